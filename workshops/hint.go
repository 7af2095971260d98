package workshops

// Text is Markdown that shows itself in a notebook.
type Text string

// MIMEBundle shows the text.
func (t Text) MIMEBundle() map[string]any {
	return map[string]any{"text/markdown": string(t), "text/plain": string(t)}
}

// Hint returns a workshop's hint: a nudge, not the answer. For an id that no
// workshop has, it is a text that says so, because a cell shows it either way.
func Hint(id string) Text {
	w, err := Find(All(), id)
	if err != nil {
		return Text(err.Error())
	}
	return Text(w.Hint)
}
