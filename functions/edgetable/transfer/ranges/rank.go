package ranges

// FirstRank is the rank of the range of a whole table.
const FirstRank = "0"

// RankBetween returns a rank between low and high. Ranks, compared as texts, sort ranges in the
// order of their keys. A rank contains the digits of a fraction, without "0.". If high is "", the
// rank has no upper bound.
func RankBetween(low, high string) string {
	digit := func(s string, i int, none byte) byte {
		if i < len(s) {
			return s[i] - '0'
		}
		return none
	}
	var rank []byte
	bounded := high != ""
	for i := 0; ; i++ {
		least, most := digit(low, i, 0), byte(10)
		if bounded {
			most = digit(high, i, 0)
		}
		if middle := (least + most) / 2; middle > least {
			return string(append(rank, '0'+middle))
		}
		bounded = bounded && least == most
		rank = append(rank, '0'+least)
	}
}
