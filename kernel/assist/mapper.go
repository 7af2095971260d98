package assist

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Mapper converts positions in one text: Go counts bytes, the protocol counts
// code points, browsers and VS Code count UTF-16 units. Positions outside the
// text are taken for the nearest end of it.
type Mapper struct {
	text string
}

// NewMapper returns the mapper of a text.
func NewMapper(text string) Mapper { return Mapper{text} }

// Byte returns the byte offset of the nth code point.
func (m Mapper) Byte(n int) int {
	for i := range m.text {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(m.text)
}

// Point returns how many code points begin before a byte offset.
func (m Mapper) Point(offset int) int {
	return utf8.RuneCountInString(m.text[:m.clamp(offset)])
}

// UTF16 returns the UTF-16 offset of a byte offset.
func (m Mapper) UTF16(offset int) int {
	n := 0
	for _, r := range m.text[:m.clamp(offset)] {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// FromUTF16 returns the byte offset of a UTF-16 offset.
func (m Mapper) FromUTF16(n int) int {
	for i, r := range m.text {
		if n <= 0 {
			return i
		}
		n -= max(utf16.RuneLen(r), 1)
	}
	return len(m.text)
}

func (m Mapper) clamp(offset int) int { return min(max(offset, 0), len(m.text)) }
