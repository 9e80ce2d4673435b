package ranges

// FirstRank is the rank of the range that is the whole table.
const FirstRank = "0"

// RankBetween returns a rank between two others. A rank sorts ranges in the order of their keys. It
// is the digits of a fraction, without "0.", and compares as text. An empty high means no upper
// bound.
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
