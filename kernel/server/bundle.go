package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/warpbook/warpbook/display"
	"github.com/warpbook/warpbook/kernel/wire"
)

// encodeBundle returns the bundle's data in a form that is sure to encode, with
// text/plain for front ends that show nothing else. What JSON cannot hold, such
// as NaN, is left out and reported.
func encodeBundle(b display.Bundle) (data map[string]any, bad []error) {
	data = make(map[string]any, len(b.Data)+1)
	for _, mime := range slices.Sorted(maps.Keys(b.Data)) {
		v := b.Data[mime]
		switch v.(type) {
		case string, []byte: // []byte becomes base64
			data[mime] = v
			continue
		}
		raw, err := wire.Marshal(v)
		if err != nil {
			bad = append(bad, fmt.Errorf("the output's %s was left out: %w", mime, err))
			continue
		}
		data[mime] = raw
	}
	if _, ok := data["text/plain"]; !ok && len(data) > 0 {
		data["text/plain"] = "[" + strings.Join(slices.Sorted(maps.Keys(data)), ", ") + "]"
	}
	return data, bad
}
