package ranges

// FirstRank is the rank of the range that is a whole table.
const FirstRank = "0"

// RankBetween returns a rank between low and high, or above low if high is "". A rank is the digits after "0." in a
// decimal fraction. As strings, the ranks of ranges sort in the key order of the ranges.
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
