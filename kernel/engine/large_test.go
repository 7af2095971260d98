package engine

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/warpbook/warpbook/display"
)

// What is too large for front ends is left out, with a word about it.
func TestBounded(t *testing.T) {
	large := strings.Repeat("x", maxShown+1)
	for name, c := range map[string]struct {
		data map[string]any
		keep []string // representations, besides the text
		text string   // in it
	}{
		"small":      {map[string]any{"text/html": "<b>", "text/plain": "b"}, []string{"text/html"}, "b"},
		"large":      {map[string]any{"text/html": large, "text/plain": "b", "text/latex": "x"}, []string{"text/latex"}, "b\n(text/html left out: it has 64 MB"},
		"all large":  {map[string]any{"image/png": []byte(large), "text/plain": large}, nil, "left out"},
		"large text": {map[string]any{"text/plain": large}, nil, "(text/plain left out"},
	} {
		got := bounded(display.Bundle{Data: c.data}).Data
		text, _ := got["text/plain"].(string)
		if len(got) != len(c.keep)+1 || !strings.Contains(text, c.text) || len(text) > 1000 {
			t.Errorf("%s: %d representations, text %.200q", name, len(got), text)
		}
		for _, mime := range c.keep {
			if got[mime] != c.data[mime] {
				t.Errorf("%s: %s is not what it was", name, mime)
			}
		}
	}
}

func TestShortened(t *testing.T) {
	if got := shortened("short"); got != "short" {
		t.Error(got)
	}
	got := shortened("a" + strings.Repeat("é", maxText))
	if !utf8.ValidString(got) || len(got) > maxText+50 || !strings.HasSuffix(got, "(65537 bytes)") {
		t.Errorf("%d bytes, end %q", len(got), got[len(got)-30:])
	}
}
