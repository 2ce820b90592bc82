package jsonscan

// A whole number up to maxExact and a power of ten up to 1e22 have no rounding error as float64, and a quotient of two such is
// rounded once: as correctly as strconv does it.
const maxExact = 1 << 53

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// plainNumber reads a number of up to 18 digits without an exponent: n, divided by 10 to the power of scale. For any other text, and
// for a negative zero, which n could not tell, end is 0.
func plainNumber(data []byte, i int) (n int64, scale, end int) {
	negative := i < len(data) && data[i] == '-'
	if negative {
		i++
	}
	start := i
	n, i = plainDigits(data, i, 0)
	digits := i - start
	if digits == 0 || data[start] == '0' && digits > 1 {
		return 0, 0, 0
	}
	if i < len(data) && data[i] == '.' {
		n, i = plainDigits(data, i+1, n)
		if scale = i - start - digits - 1; scale == 0 {
			return 0, 0, 0
		}
	}
	if digits+scale > 18 || negative && n == 0 || i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		return 0, 0, 0
	}
	if negative {
		n = -n
	}
	return n, scale, i
}

// plainDigits appends the digits at i to n.
func plainDigits(data []byte, i int, n int64) (int64, int) {
	for ; i < len(data) && isDigit(data[i]); i++ {
		n = 10*n + int64(data[i]-'0')
	}
	return n, i
}
