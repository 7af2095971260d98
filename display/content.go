package display

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"image"
	"os"
	"strings"
)

// As is content of a MIME type, as a value for Show and Update. Content is a
// string, []byte for pictures, or for JSON types any value.
func As(mime string, content any) Bundle {
	return complete(Bundle{Data: map[string]any{mime: content}}, nil)
}

// Text shows text as it is, without quotes.
func Text(s string) *Handle { return showBundle(As("text/plain", s)) }

// HTML shows HTML. Use html.EscapeString for text that is not yours.
func HTML(s string) *Handle { return showBundle(htmlBundle(s)) }

// Markdown shows Markdown; $...$ in it is mathematics.
func Markdown(s string) *Handle { return showBundle(markdownBundle(s)) }

// LaTeX shows mathematics. Without delimiters of its own ($, \( or \begin) the
// text is set as a displayed formula.
func LaTeX(s string) *Handle { return showBundle(latexBundle(s)) }

// SVG shows a drawing.
func SVG(s string) *Handle {
	return showBundle(Bundle{Data: map[string]any{"image/svg+xml": s, "text/plain": "SVG drawing"}})
}

// JavaScript runs a script in the front end, if the notebook is trusted.
func JavaScript(s string) *Handle {
	return showBundle(Bundle{Data: map[string]any{"application/javascript": s, "text/plain": "JavaScript"}})
}

// JSON shows a value as a tree. A []byte, or a string that holds an object or a
// list, is taken as JSON text. NaN and infinities, which JSON lacks, become null.
func JSON(v any) *Handle { return showBundle(orError("JSON", v, jsonBundle)) }

// VegaLite shows a Vega-Lite chart; spec is JSON text (string or []byte) or a
// value that becomes it, such as a map[string]any.
func VegaLite(spec any) *Handle { return showBundle(orError("VegaLite", spec, vegaBundle)) }

// PNG shows a picture: an image.Image, the bytes of a PNG file, or its path.
func PNG(picture any) *Handle { return showBundle(orError("PNG", picture, pngBundle)) }

// JPEG shows a picture: an image.Image, the bytes of a JPEG file, or its path.
func JPEG(picture any) *Handle { return showBundle(orError("JPEG", picture, jpegBundle)) }

// Image shows a picture: an image.Image, or the bytes or the path of a PNG,
// JPEG, GIF, WebP or BMP file.
func Image(picture any) *Handle { return showBundle(orError("Image", picture, imageBundle)) }

// orError makes a bundle of v, or one that says in the cell what is wrong.
func orError(name string, v any, build func(any) (Bundle, error)) Bundle {
	b, err := build(v)
	if err != nil {
		return As("text/plain", fmt.Sprintf("display.%s: %v", name, err))
	}
	return b
}

func htmlBundle(s string) Bundle {
	return Bundle{Data: map[string]any{"text/html": s, "text/plain": stripTags(s)}}
}

func markdownBundle(s string) Bundle {
	return Bundle{Data: map[string]any{"text/markdown": s, "text/plain": s}}
}

func latexBundle(s string) Bundle {
	delimited := strings.Contains(s, "$") || strings.Contains(s, `\(`) ||
		strings.Contains(s, `\[`) || strings.Contains(s, `\begin`)
	if !delimited {
		s = "$$" + s + "$$"
	}
	return Bundle{Data: map[string]any{"text/latex": s, "text/plain": s}}
}

// jsonText is the JSON of a value, or of text that is JSON already.
func jsonText(v any) (json.RawMessage, error) {
	var text []byte
	switch v := v.(type) {
	case json.RawMessage:
		text = v
	case []byte:
		text = v
	case string:
		if t := strings.TrimSpace(v); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			text = []byte(t)
		}
	}
	if text == nil {
		return marshal(v)
	}
	if !json.Valid(text) {
		var probe any
		err := json.Unmarshal(text, &probe) // tells where
		return nil, fmt.Errorf("the text is not JSON (%w); correct it, or give a map or a struct", err)
	}
	return json.RawMessage(text), nil
}

func jsonBundle(v any) (Bundle, error) {
	text, err := jsonText(v)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{Data: map[string]any{"application/json": text, "text/plain": indentJSON(text)}}
	if len(text) < 2000 {
		b.Metadata = map[string]any{"application/json": map[string]any{"expanded": true}}
	}
	return b, nil
}

const vegaLiteMIME = "application/vnd.vegalite.v5+json"

func vegaBundle(spec any) (Bundle, error) {
	text, err := jsonText(spec)
	if err != nil {
		return Bundle{}, err
	}
	var fields struct{ Title any }
	if err := json.Unmarshal(text, &fields); err != nil {
		return Bundle{}, errors.New("the specification is not a JSON object; give an object with at least \"data\", \"mark\" and \"encoding\"")
	}
	name := "Vega-Lite chart"
	if t, ok := fields.Title.(string); ok {
		name += ": " + t
	}
	return Bundle{Data: map[string]any{vegaLiteMIME: text, "text/plain": name}}, nil
}

// pictureKinds are the picture types that front ends show, by how their files begin.
var pictureKinds = [...]struct{ mime, magic string }{
	{"image/png", "\x89PNG\r\n\x1a\n"},
	{"image/jpeg", "\xff\xd8\xff"},
	{"image/gif", "GIF8"},
	{"image/webp", "RIFF"},
	{"image/bmp", "BM"},
}

func sniffPicture(b []byte) string {
	for _, k := range pictureKinds {
		if strings.HasPrefix(string(b[:min(len(b), 16)]), k.magic) {
			return k.mime
		}
	}
	return ""
}

func imageBundle(v any) (Bundle, error) { return pictureBundle(v, "") }
func pngBundle(v any) (Bundle, error)   { return pictureBundle(v, "image/png") }
func jpegBundle(v any) (Bundle, error)  { return pictureBundle(v, "image/jpeg") }

// pictureBundle makes a bundle of a picture. mime "" takes files of any kind.
func pictureBundle(v any, mime string) (Bundle, error) {
	switch v := v.(type) {
	case image.Image:
		if isNil(v) {
			return Bundle{}, errors.New("the picture is nil; make it with image.NewRGBA or decode it first")
		}
		return encodePicture(v, mime)
	case []byte:
		return fileBundle(v, mime)
	case string:
		content, err := os.ReadFile(v)
		if err != nil {
			return Bundle{}, fmt.Errorf("the picture cannot be read (%w); give the path of a file, its bytes or an image.Image", err)
		}
		return fileBundle(content, mime)
	}
	return Bundle{}, fmt.Errorf("a value of type %T is not a picture; give an image.Image, the bytes of a file or its path", v)
}

func fileBundle(content []byte, mime string) (Bundle, error) {
	got := sniffPicture(content)
	if got == "" {
		return Bundle{}, errors.New("the bytes are not a PNG, JPEG, GIF, WebP or BMP file; decode them and give an image.Image")
	}
	if mime != "" && got != mime {
		return Bundle{}, fmt.Errorf("the bytes are %s, not %s; use display.Image", got, mime)
	}
	text := fmt.Sprintf("%s, %d bytes", got, len(content))
	return Bundle{Data: map[string]any{got: append([]byte(nil), content...), "text/plain": text}}, nil
}

// maxPixels keeps pictures without bounds, such as image.Uniform, from filling
// the memory.
const maxPixels = 100_000_000

func encodePicture(m image.Image, mime string) (b Bundle, err error) {
	defer func() { // the picture's methods are the user's code
		if p := recover(); p != nil {
			err = fmt.Errorf("the picture's methods panicked: %v; correct its Bounds or At", p)
		}
	}()
	size := m.Bounds().Size()
	text := fmt.Sprintf("picture, %d x %d pixels (%T)", size.X, size.Y, m)
	b = Bundle{Data: map[string]any{"text/plain": text}}
	r := current().render
	var file []byte
	switch {
	case size.X > 1<<15 || size.Y > 1<<15 || size.X*size.Y > maxPixels:
		return Bundle{}, fmt.Errorf("a value of type %T of %d x %d pixels is too large to show; crop or shrink it first", m, size.X, size.Y)
	case size.X <= 0 || size.Y <= 0:
		return b, nil // an empty picture is not an error, but no encoder takes it
	case mime == "image/jpeg" && r.JPEG != nil:
		file, err = r.JPEG(m, 90)
	case r.PNG != nil:
		mime = "image/png"
		file, err = r.PNG(m)
	default:
		return b, nil
	}
	if err != nil {
		return Bundle{}, fmt.Errorf("the picture cannot be encoded: %w", err)
	}
	b.Data[mime] = file
	return b, nil
}

// stripTags is the text of HTML, for a terminal: tags go, blocks end lines.
func stripTags(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		j := strings.IndexByte(s, '>')
		if j < 0 || len(s) < 2 || !startsTag(s[1]) {
			b.WriteByte('<')
			s = s[1:]
			continue
		}
		tag := strings.ToLower(strings.Trim(s[1:j], "/ "))
		name, _, _ := strings.Cut(tag, " ")
		if closing := "</" + name; name == "script" || name == "style" {
			if k := strings.Index(strings.ToLower(s), closing); k > 0 {
				s = s[k:]
				j = max(strings.IndexByte(s, '>'), 0)
			}
		}
		switch {
		case name == "br" || s[1] == '/' && strings.Contains(" p div tr li h1 h2 h3 h4 h5 h6 table ul ol pre ", " "+name+" "):
			b.WriteByte('\n')
		case s[1] == '/' && (name == "td" || name == "th"):
			b.WriteByte('\t')
		}
		s = s[j+1:]
	}
	return strings.TrimSpace(html.UnescapeString(b.String()))
}

func startsTag(c byte) bool {
	return c == '/' || c == '!' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
