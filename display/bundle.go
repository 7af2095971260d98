package display

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// MIMEBundler is a type that shows itself. Data maps MIME types to content as
// in Bundle.
type MIMEBundler interface {
	MIMEBundle() map[string]any
}

// MIMEMetadater is a MIMEBundler with metadata, for instance the size of a
// picture: {"image/png": map[string]any{"width": 300}}.
type MIMEMetadater interface {
	MIMEMetadata() map[string]any
}

// Render is the bundle of a value, or of several values side by side. It always
// has text/plain, and does not fail: what goes wrong is told in the text.
func Render(values ...any) Bundle {
	switch len(values) {
	case 0:
		return Bundle{Data: map[string]any{"text/plain": ""}}
	case 1:
		return renderOne(values[0])
	}
	parts := make([]Bundle, len(values))
	for i, v := range values {
		parts[i] = renderOne(v)
	}
	return join(parts)
}

func renderOne(v any) Bundle {
	switch v := v.(type) {
	case Bundle:
		return complete(v, nil)
	case *Bundle:
		if v != nil {
			return complete(*v, nil)
		}
	case image.Image:
		if _, own := v.(MIMEBundler); !own && !isNil(v) {
			return orError("Show", v, imageBundle)
		}
	}
	data, metadata, err := rich(v)
	if data == nil && err == nil {
		return Bundle{Data: map[string]any{"text/plain": plain(v)}}
	}
	if err != nil {
		return Bundle{Data: map[string]any{"text/plain": fmt.Sprintf("%s\n(shown as text: %v)", plain(v), err)}}
	}
	return complete(Bundle{Data: data, Metadata: metadata}, v)
}

// rich asks the value itself, then the renderers, for more than text.
func rich(v any) (data, metadata map[string]any, err error) {
	if isNil(v) {
		return nil, nil, nil
	}
	defer func() {
		if p := recover(); p != nil {
			data, metadata, err = nil, nil, fmt.Errorf("showing a %T panicked: %v; correct its MIMEBundle method", v, p)
		}
	}()
	if m, ok := v.(MIMEMetadater); ok {
		metadata = m.MIMEMetadata()
	}
	if m, ok := v.(MIMEBundler); ok {
		return m.MIMEBundle(), metadata, nil
	}
	if r := current().render.Value; r != nil {
		data, err = r(v)
	}
	return data, metadata, err
}

// complete checks the content of a bundle and gives it text/plain. v is the
// value that the bundle shows, if any.
func complete(b Bundle, v any) Bundle {
	data := make(map[string]any, len(b.Data)+1)
	var notes []string
	for mime, content := range b.Data {
		checked, err := checkContent(mime, content)
		if err != nil {
			notes = append(notes, fmt.Sprintf("(%s left out: %v)", mime, err))
			continue
		}
		data[mime] = checked
	}
	metadata, err := object(b.Metadata)
	if err != nil {
		notes = append(notes, fmt.Sprintf("(metadata left out: %v)", err))
	}
	if _, ok := data["text/plain"]; !ok {
		data["text/plain"] = textFor(data, v)
	}
	if len(notes) > 0 {
		slices.Sort(notes)
		lines := append([]string{fmt.Sprint(data["text/plain"])}, notes...)
		data["text/plain"] = strings.TrimPrefix(strings.Join(lines, "\n"), "\n")
	}
	return Bundle{Data: data, Metadata: metadata}
}

// checkContent makes content what its MIME type needs: JSON that is sure to be
// encoded, bytes for binary types, else a string.
func checkContent(mime string, content any) (any, error) {
	if isJSON(mime) {
		if b, ok := content.([]byte); ok {
			content = json.RawMessage(b)
		}
		return jsonText(content)
	}
	switch c := content.(type) {
	case string:
		return strings.ToValidUTF8(c, "\uFFFD"), nil
	case []byte:
		if strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "+xml") {
			return strings.ToValidUTF8(string(c), "\uFFFD"), nil
		}
		return append([]byte(nil), c...), nil
	case fmt.Stringer:
		return fmt.Sprint(c), nil // fmt survives a String that panics
	}
	return nil, fmt.Errorf("its content is of type %T; give a string or []byte", content)
}

func isJSON(mime string) bool {
	return mime == "application/json" || strings.HasSuffix(mime, "+json")
}

// textFor derives text/plain from other content, or from the value.
func textFor(data map[string]any, v any) string {
	if v != nil && (len(data) == 0 || hasText(v)) {
		return plain(v)
	}
	if s, ok := data["text/html"].(string); ok {
		return stripTags(s)
	}
	for _, mime := range []string{"text/markdown", "text/latex"} {
		if s, ok := data[mime].(string); ok {
			return s
		}
	}
	if v != nil {
		return plain(v)
	}
	return strings.Join(slices.Sorted(maps.Keys(data)), ", ")
}

// join puts bundles side by side. HTML is made only if one of them is more than
// text, and holds pictures inline.
func join(parts []Bundle) Bundle {
	rich := false
	var texts, pages []string
	for _, p := range parts {
		text, _ := p.Data["text/plain"].(string)
		texts = append(texts, text)
		page, ok := page(p)
		if !ok {
			page = "<pre>" + html.EscapeString(text) + "</pre>"
		}
		rich = rich || ok
		pages = append(pages, "<div>"+page+"</div>")
	}
	sep := ", "
	if strings.Contains(strings.Join(texts, ""), "\n") {
		sep = "\n"
	}
	data := map[string]any{"text/plain": strings.Join(texts, sep)}
	if rich {
		data["text/html"] = strings.Join(pages, "\n")
	}
	return Bundle{Data: data}
}

// page is the HTML of a bundle that has content which HTML can hold.
func page(b Bundle) (string, bool) {
	if s, ok := b.Data["text/html"].(string); ok {
		return s, true
	}
	if s, ok := b.Data["image/svg+xml"].(string); ok {
		return image64("image/svg+xml", []byte(s)), true
	}
	for _, k := range pictureKinds {
		if p, ok := b.Data[k.mime].([]byte); ok {
			return image64(k.mime, p), true
		}
	}
	return "", false
}

func image64(mime string, content []byte) string {
	return `<img src="data:` + mime + ";base64," + base64.StdEncoding.EncodeToString(content) + `">`
}

// isNil reports whether v is nil, or a nil pointer in an interface.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}
