package sas_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"edgetable/core/key"
	"edgetable/core/sas"
	"edgetable/core/table"
)

func grant(t testing.TB, query string, err error) *sas.Grant {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	g, err := verify(t, query, emulator(t), inside(t))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func tableGrant(t testing.TB, v sas.TableValues) *sas.Grant {
	t.Helper()
	v.Expiry = "2030-01-01"
	query, err := v.Sign(account, accountKey(t))
	return grant(t, query, err)
}

func accountGrant(t testing.TB, services, types, permissions string) *sas.Grant {
	t.Helper()
	query, err := sas.AccountValues{Services: services, ResourceTypes: types, Permissions: permissions, Expiry: "2030-01-01"}.Sign(account, accountKey(t))
	return grant(t, query, err)
}

func TestAllowTable(t *testing.T) {
	t.Parallel()
	const ok = table.Code("")
	for _, tt := range []struct {
		name        string
		permissions string
		op          sas.Right
		table       string
		code        table.Code
		says        string
	}{
		{"query", "r", sas.QueryEntities, "mytable", ok, ""},
		{"the name of a table has no case", "r", sas.QueryEntities, "MyTABLE", ok, ""},
		{"another name of the same length", "r", sas.QueryEntities, "mytablf", table.AuthorizationFailure, "for the table"},
		{"letters in any order", "duar", sas.QueryEntities, "mytable", ok, ""},
		{"query without r", "aud", sas.QueryEntities, "mytable", table.AuthorizationPermissionMismatch, "Query Entities needs the letter r"},
		{"insert", "a", sas.InsertEntity, "mytable", ok, ""},
		{"insert without a", "rud", sas.InsertEntity, "mytable", table.AuthorizationPermissionMismatch, "letter a"},
		{"upsert", "au", sas.UpsertEntity, "mytable", ok, ""},
		{"upsert without u: it may replace", "rad", sas.UpsertEntity, "mytable", table.AuthorizationPermissionMismatch, "letters a and u"},
		{"upsert without a: it may insert", "rud", sas.UpsertEntity, "mytable", table.AuthorizationPermissionMismatch, `they are "rud"`},
		{"update", "u", sas.UpdateEntity, "mytable", ok, ""},
		{"update without u", "rad", sas.UpdateEntity, "mytable", table.AuthorizationPermissionMismatch, "letter u"},
		{"delete", "d", sas.DeleteEntity, "mytable", ok, ""},
		{"delete without d", "rau", sas.DeleteEntity, "mytable", table.AuthorizationPermissionMismatch, "letter d"},
		{"another table", "raud", sas.QueryEntities, "mytable2", table.AuthorizationFailure, `for the table "mytable"`},
		{"the table comes before the permissions", "a", sas.QueryEntities, "other", table.AuthorizationFailure, "for the table"},
		{"no table", "raud", sas.QueryEntities, "", table.AuthorizationFailure, "for the table"},
		{"tables are not entities", "raud", sas.QueryTables, "", table.AuthorizationFailure, "an account SAS can"},
		{"nor is the table itself", "raud", sas.DeleteTable, "mytable", table.AuthorizationFailure, "does not allow Delete Table"},
		{"nor creating it", "raudcw", sas.CreateTable, "mytable", table.AuthorizationFailure, "does not allow Create Table"},
		{"reading the service", "raud", sas.GetServiceProperties, "", table.AuthorizationFailure, "Service Properties"},
		{"changing the service", "raudw", sas.SetServiceProperties, "", table.AuthorizationFailure, "Service Properties"},
		{"statistics", "raud", sas.GetServiceStats, "", table.AuthorizationFailure, "Stats"},
		{"who may change policies can give himself all", "raud", sas.TableACL, "mytable", table.AuthorizationFailure, "no shared access signature"},
		{"keys are lent to users", "raud", sas.GetUserDelegationKey, "", table.AuthorizationFailure, "no shared access signature"},
		{"no operation", "raud", 0, "mytable", table.AuthorizationFailure, ""},
		{"the operation after the last", "raud", sas.DeleteEntity + 1, "mytable", table.AuthorizationFailure, ""},
		{"an unknown operation", "raud", 200, "mytable", table.AuthorizationFailure, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tableGrant(t, sas.TableValues{Table: "MyTable", Permissions: tt.permissions}).Allow(tt.op, tt.table)
			if codeOf(err) != tt.code || (err == nil) != (tt.code == ok) || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q %q", err, tt.code, tt.says)
			}
		})
	}
}

func TestAllowAccount(t *testing.T) {
	t.Parallel()
	const (
		ok       = table.Code("")
		all      = "rwdxylacuptfi"
		letters  = table.AuthorizationPermissionMismatch
		resource = table.AuthorizationResourceTypeMismatch
	)
	without := func(drop string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(drop, r) {
				return -1
			}
			return r
		}, all)
	}
	for _, tt := range []struct {
		name                         string
		services, types, permissions string
		op                           sas.Right
		code                         table.Code
	}{
		{"another service", "bqf", "sco", all, sas.QueryEntities, table.AuthorizationServiceMismatch},
		{"the service comes before the resource type", "b", "s", all, sas.QueryEntities, table.AuthorizationServiceMismatch},
		{"the resource type before the permissions", "t", "s", "w", sas.QueryEntities, resource},
		{"all services", "bqtf", "o", "r", sas.QueryEntities, ok},

		{"read properties", "t", "s", "r", sas.GetServiceProperties, ok},
		{"of the service, not of objects", "t", "co", all, sas.GetServiceProperties, resource},
		{"read them without r", "t", "s", without("r"), sas.GetServiceProperties, letters},
		{"write properties", "t", "s", "w", sas.SetServiceProperties, ok},
		{"write them without w", "t", "sco", without("w"), sas.SetServiceProperties, letters},
		{"statistics", "t", "s", "r", sas.GetServiceStats, ok},
		{"statistics without r", "t", "s", without("r"), sas.GetServiceStats, letters},

		{"list tables as containers", "t", "c", "l", sas.QueryTables, ok},
		{"tables are not of the service", "t", "so", all, sas.QueryTables, resource},
		{"tables are not objects", "t", "o", all, sas.QueryTables, resource},
		{"list without l", "t", "sc", without("l"), sas.QueryTables, letters},
		{"create with c", "t", "c", "c", sas.CreateTable, ok},
		{"create with w", "t", "c", "w", sas.CreateTable, ok},
		{"create with neither", "t", "c", without("cw"), sas.CreateTable, letters},
		{"create is not of the service", "t", "so", all, sas.CreateTable, resource},
		{"delete a table", "t", "c", "d", sas.DeleteTable, ok},
		{"delete it without d", "t", "c", without("d"), sas.DeleteTable, letters},
		{"delete it with o alone", "t", "o", all, sas.DeleteTable, resource},

		{"query", "t", "o", "r", sas.QueryEntities, ok},
		{"query with l alone", "t", "sco", "l", sas.QueryEntities, letters},
		{"entities are not containers", "t", "sc", all, sas.QueryEntities, resource},
		{"insert", "t", "o", "a", sas.InsertEntity, ok},
		{"insert with w alone", "t", "o", "w", sas.InsertEntity, letters},
		{"upsert", "t", "o", "au", sas.UpsertEntity, ok},
		{"upsert without u", "t", "o", without("u"), sas.UpsertEntity, letters},
		{"upsert without a", "t", "o", without("a"), sas.UpsertEntity, letters},
		{"update", "t", "o", "u", sas.UpdateEntity, ok},
		{"update without u", "t", "o", without("u"), sas.UpdateEntity, letters},
		{"delete", "t", "o", "d", sas.DeleteEntity, ok},
		{"delete without d", "t", "o", without("d"), sas.DeleteEntity, letters},

		{"policies are the owner's", "t", "sco", all, sas.TableACL, table.AuthorizationFailure},
		{"keys are lent to users", "t", "sco", all, sas.GetUserDelegationKey, table.AuthorizationFailure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := accountGrant(t, tt.services, tt.types, tt.permissions)
			if err := g.Allow(tt.op, "anytable"); codeOf(err) != tt.code || (err == nil) != (tt.code == ok) {
				t.Errorf("%v, want %q", err, tt.code)
			}
			if g.Range() != nil || g.AllowEntity("p", "r") != nil {
				t.Error("an account SAS has no range")
			}
		})
	}
}

// parts holds strings from which TestRange builds keys and bounds of ranges. Some of these strings sort differently in
// UTF-16 and in UTF-8.
var parts = []string{"", "a", "b", "aa", "a ", "A", "\uffff", "\U0001F600", "\ue000", "é", "a'"}

// illegal holds strings that are no legal keys. TestRange uses them only for bounds.
var illegal = []string{"a/b", "a\x00", "a\x1f", "\t", "a#", "?", "a\\", "\x7f", "\u0085", strings.Repeat("a", 1025), strings.Repeat("\U0001F600", 700)}

func pick(r *rand.Rand, from ...[]string) string {
	all := slices.Concat(from...)
	return all[r.IntN(len(all))] + all[r.IntN(len(all))]
}

// inRange reports whether an entity is in the range of a token. It applies the rule directly: srk applies only in the
// partition spk, and erk only in epk.
func inRange(v sas.TableValues, p, r string) bool {
	if v.StartPartition != "" {
		switch c := key.Compare(p, v.StartPartition); {
		case c < 0, c == 0 && v.StartRow != "" && key.Compare(r, v.StartRow) < 0:
			return false
		}
	}
	if v.EndPartition != "" {
		switch c := key.Compare(p, v.EndPartition); {
		case c > 0, c == 0 && v.EndRow != "" && key.Compare(r, v.EndRow) > 0:
			return false
		}
	}
	return true
}

// TestRange checks that Range and AllowEntity agree with inRange, for random ranges and entities.
func TestRange(t *testing.T) {
	t.Parallel()
	k := accountKey(t)
	inside, outside := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		v := sas.TableValues{Table: "mytable", Permissions: "r", Expiry: "2030-01-01"}
		if r.IntN(4) > 0 {
			v.StartPartition = pick(r, parts, illegal)
			if v.StartPartition != "" && r.IntN(2) > 0 {
				v.StartRow = pick(r, parts, illegal)
			}
		}
		if r.IntN(4) > 0 {
			v.EndPartition = pick(r, parts, illegal)
			if r.IntN(4) == 0 {
				v.EndPartition = v.StartPartition
			}
			if v.EndPartition != "" && r.IntN(2) > 0 {
				v.EndRow = pick(r, parts, illegal)
			}
		}
		query, err := v.Sign(account, k)
		g := grant(t, query, err)
		rg := g.Range()
		if (rg == nil) != (v.StartPartition == "" && v.EndPartition == "") {
			t.Fatalf("%q: range %v", v, rg)
		}
		for range 20 {
			p, row := pick(r, parts), pick(r, parts)
			switch r.IntN(6) { // often choose a key that is also a bound
			case 0:
				p = v.StartPartition
			case 1:
				p, row = v.StartPartition, v.StartRow
			case 2:
				p = v.EndPartition
			case 3:
				p, row = v.EndPartition, v.EndRow
			}
			if key.Check(p) != nil || key.Check(row) != nil {
				continue
			}
			want := inRange(v, p, row)
			if got := rg == nil || rg.Contains(key.Append(nil, p, row)); got != want {
				t.Fatalf("%q: Range contains (%q, %q): %v", v, p, row, got)
			}
			if err := g.AllowEntity(p, row); (err == nil) != want || err != nil && codeOf(err) != table.AuthorizationFailure {
				t.Fatalf("%q: AllowEntity(%q, %q): %v", v, p, row, err)
			}
			if want {
				inside++
			} else {
				outside++
			}
		}
	}
	if inside < 1000 || outside < 1000 {
		t.Errorf("%d entities inside, %d outside: the test proves too little", inside, outside)
	}
}

// TestTableNames checks that the case of a table's name is ignored for every letter.
func TestTableNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"AbA", "Zbz", "azAZ09", "aBCDEFGHIJKLMNOPQRSTUVWXYZ", "zzz"} {
		token, err := sas.Parse("sv=2019-02-02&tn=" + name + "&sig=x")
		if err != nil || token.Table() != strings.ToLower(name) {
			t.Errorf("%s is %s, %v", name, token.Table(), err)
		}
		g := tableGrant(t, sas.TableValues{Table: name, Permissions: "r"})
		for _, other := range []string{strings.ToLower(name), strings.ToUpper(name)} {
			if err := g.Allow(sas.QueryEntities, other); err != nil {
				t.Errorf("%s, as %s: %v", name, other, err)
			}
		}
	}
	if err := tableGrant(t, sas.TableValues{Table: "MyTable", Permissions: "r"}).Allow(0, "mytable"); err == nil || strings.Contains(err.Error(), "allows") {
		t.Errorf("no operation: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	d, err := sas.Delegate(accountKey(t), account, sas.Reader, lent, at(t, "2026-06-27T00:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	delegated, err := sas.TableValues{Table: "t1t", Expiry: "2026-06-28", Permissions: "rad"}.SignDelegated(account, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, query string
		want        []string
	}{
		{"table", "sv=2019-02-02&tn=MyTable&st=2020-01-01&se=2030-01-01&sp=raud&sip=168.1.5.65&spr=https&spk=a&srk=%09&epk=b&sig=x", []string{
			"table SAS of version 2019-02-02", `table: "mytable"`, "operations: read, add, update, delete",
			`first entity: PartitionKey "a", RowKey "\t"`, `last entity: PartitionKey "b"`,
			"from: 2020-01-01", "until: 2030-01-01", "addresses: 168.1.5.65", "protocol: https alone",
		}},
		{"with a policy", "sv=2019-02-02&tn=t1t&si=readers&sig=x", []string{
			"table SAS of version 2019-02-02", `table: "t1t"`, `everything else that the stored access policy "readers" permits`,
		}},
		{"account", "sv=2019-02-02&ss=t&srt=so&sp=rwlc&se=2030-01-01&sig=x", []string{
			"account SAS of version 2019-02-02", "resources: the service, entities", "operations: read, write, list, create",
			"until: 2030-01-01",
		}},
		{"for others", "sv=2019-02-02&ss=b&srt=s&sp=x&se=2030-01-01&sig=x", []string{
			"account SAS of version 2019-02-02", "resources: the service", "services: none of tables", "operations: none", "until: 2030-01-01",
		}},
		{"delegation", delegated, []string{
			"user delegation SAS of version 2025-07-05", `table: "t1t"`, "operations: read, add, delete", "until: 2026-06-28",
			`lent to user: "11111111-2222-3333-4444-555555555555" of tenant "99999999-8888-7777-6666-555555555555" until 2026-06-30T00:00:00Z`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			token, err := sas.Parse(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := token.Describe(); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}
