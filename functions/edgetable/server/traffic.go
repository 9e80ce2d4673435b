package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"edgetable/adapters/objects/directory"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/traffic"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/stores"
)

// TrafficFile is the name of the file with the traffic statistics in the data directory.
const TrafficFile = "traffic.json"

// Statistics counts the traffic of a server and saves the counts to a file.
type Statistics struct {
	*traffic.Counter
	path string // path of the file; "" if the counts are not saved
	log  *slog.Logger
}

// OpenStatistics restores the counts from a data directory. If data is "", there is no data directory and the counts
// are not saved.
func OpenStatistics(data string, log *slog.Logger) *Statistics {
	s := &Statistics{Counter: traffic.New(), log: log}
	if data != "" {
		s.path = filepath.Join(data, TrafficFile)
		saved, err := readStatistics(s.path)
		var c *traffic.Counter
		if err == nil {
			c, err = traffic.Restore(saved, stores.Now())
		}
		switch {
		case err == nil:
			s.Counter = c
		case !errors.Is(err, fs.ErrNotExist):
			log.Warn("the traffic statistics are reset, because their file cannot be used", "file", s.path, "cause", err)
		}
	}
	s.Tick(stores.Now())
	return s
}

// readStatistics reads the file. Its first line is a checksum of the rest, which detects a partial write.
func readStatistics(path string) (*traffic.Saved, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	head, body, _ := bytes.Cut(text, []byte("\n"))
	if string(head) != checksum(body) {
		return nil, errors.New("its checksum is wrong")
	}
	s := new(traffic.Saved)
	return s, json.Unmarshal(body, s)
}

func checksum(b []byte) string { return fmt.Sprintf("edgetable traffic 1 %08x", crc32.ChecksumIEEE(b)) }

// write replaces the file. After a crash, the file has the old content, the new content, or a wrong checksum.
func (s *Statistics) write() {
	if s.path == "" {
		return
	}
	body, err := json.Marshal(s.Save())
	if err == nil {
		err = directory.Replace(s.path, append([]byte(checksum(body)+"\n"), body...), 0o600)
	}
	if err != nil {
		s.log.Warn("the traffic statistics cannot be written", "cause", err)
	}
}

const keptEvery = time.Minute

// saveLoop advances the statistics every second and saves them every minute, until ctx is done.
func (s *Statistics) saveLoop(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.Tick(stores.Now())
		if n%int(keptEvery/time.Second) == 0 {
			s.write()
		}
	}
}

// Observe counts a request that read or wrote entities of an existing table.
func (s *Statistics) Observe(resp *protocol.Response) {
	from := resp.Visit
	throttled := resp.Status == http.StatusServiceUnavailable && !errors.Is(resp.Err, table.ErrFull)
	switch {
	case from == nil, from.Query && from.Tool, resp.Table == "", resp.Code == "TableNotFound", resp.Status >= 500 && !throttled:
		return
	}
	v := traffic.Visit{
		Account: resp.Account, Table: resp.Table, PartitionKey: from.PartitionKey, RowKey: from.RowKey, InPartition: from.InPartition,
		Write: from.Write, Tool: from.Tool, Batch: from.Write && resp.Operation == "EntityGroupTransaction",
		Entities: from.Entities, Inserts: from.Inserts, Bytes: from.Bytes, Largest: from.Largest, Throttled: throttled,
	}
	if from.Query {
		describeQuery(&v, resp)
	}
	s.Add(&v)
}

// describeQuery describes a query: its filter, its key range, and the amount of data that it read and returned.
func describeQuery(v *traffic.Visit, resp *protocol.Response) {
	from := resp.Visit
	plan := odata.MakePlan(from.Filter)
	v.First = from.From == nil
	v.Plan, v.Shape, v.Example = plan.Kind, from.Filter.Shape(), from.Text
	v.Scanned, v.ScannedBytes, v.Returned = resp.Scanned, from.ScannedBytes, resp.Returned
	ranges := key.From(plan.Ranges, from.From)
	if len(ranges) == 0 {
		v.From = []byte{}
		return
	}
	v.From, v.To = ranges[0].Start, ranges[len(ranges)-1].End
	if v.From == nil {
		v.From = []byte{}
	}
	if from.Next != nil {
		v.To = from.Next
	}
	if len(plan.Ranges) == 1 && (plan.Kind == "Point" || plan.Kind == "Rows" || plan.Kind == "Partition") {
		partition, _ := key.Split(plan.Ranges[0].Start)
		v.PartitionKey, v.InPartition = key.DecodePart(partition), true
	}
}

// trafficResponse is the response to a request with comp=traffic: the statistics of a table and advice derived from
// them. The request must be signed with an account key.
type trafficResponse struct {
	*traffic.Report
	Advice *advise.Advice `json:"advice"`
}

// ReportJSON returns the traffic of a table as JSON. The report of a table without traffic is empty.
func (s *Statistics) ReportJSON(account, table string) ([]byte, error) {
	saved := s.Save()
	t, ok := saved.Find(account, table)
	if !ok {
		now := stores.Now()
		t = &traffic.SavedTable{Account: account, Table: table, Now: now, Windows: [2]traffic.SavedWindow{{Since: now}}}
	}
	r := t.Report()
	hour := s.Hour(account, table)
	r.Hour = &hour
	return json.Marshal(trafficResponse{r, advise.NewAdvice(table, &advise.Facts{Traffic: r, Buckets: cli.UsualBuckets})})
}

// serve registers the handlers for "edgetable traffic" and "edgetable advise".
func (s *Statistics) serve(mux *http.ServeMux) {
	mux.HandleFunc("GET /traffic", func(w http.ResponseWriter, _ *http.Request) {
		saved := s.Save()
		writeAnswer(w, saved.Overviews(), nil)
	})
	mux.HandleFunc("GET /hours", func(w http.ResponseWriter, r *http.Request) {
		writeAnswer(w, s.Hours(r.URL.Query().Get("account")), nil)
	})
	mux.HandleFunc("GET /traffic/{table}", func(w http.ResponseWriter, r *http.Request) {
		saved := s.Save()
		t, ok := saved.Find(r.URL.Query().Get("account"), r.PathValue("table"))
		if !ok {
			http.Error(w, "no traffic of this table was counted: the server counts only its 16 busiest tables, and ignores the requests of edgetable's own commands", http.StatusNotFound)
			return
		}
		writeAnswer(w, t.Report(), nil)
	})
}
