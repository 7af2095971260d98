package history

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// selection is a query for all entries, under names that conditions can use:
// session, line, text and output.
func selection(want Want) string {
	text, output, join := "h.source", "NULL", ""
	if want.Raw {
		text = "h.source_raw"
	}
	if want.Output {
		output, join = "o.output", " LEFT JOIN output_history o USING (session, line)"
	}
	return "SELECT h.session AS session, h.line AS line, " + text + " AS text, " + output + " AS output FROM history h" + join
}

const newestFirst = " ORDER BY session DESC, line DESC LIMIT ?"

func (d *database) tail(ctx context.Context, n int, want Want) ([]Entry, error) {
	entries, err := d.query(ctx, selection(want)+newestFirst, max(n, 0))
	slices.Reverse(entries)
	return entries, err
}

func (d *database) between(ctx context.Context, session int64, start, stop int, want Want) ([]Entry, error) {
	if session <= 0 {
		session += d.session
	}
	if start < 0 || stop <= 0 {
		var last sql.NullInt64
		if err := d.db.QueryRowContext(ctx, `SELECT MAX(line) FROM history WHERE session = ?`, session).Scan(&last); err != nil {
			return nil, fmt.Errorf("cannot read the history; see the kernel's log: %w", err)
		}
		end := int(last.Int64) + 1
		if start < 0 {
			start += end
		}
		if stop <= 0 {
			stop += end
		}
	}
	return d.query(ctx, "SELECT * FROM ("+selection(want)+") WHERE session = ? AND line >= ? AND line < ? ORDER BY line", session, start, stop)
}

func (d *database) search(ctx context.Context, pattern string, n int, unique bool, want Want) ([]Entry, error) {
	if n <= 0 {
		n = -1 // SQLite's "no limit"
	}
	query := "SELECT session, line, text, output FROM (" + selection(want) + ") WHERE text GLOB ?"
	if unique {
		query = "SELECT session, line, text, output FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY text ORDER BY session DESC, line DESC) AS newness FROM (" +
			query + ")) WHERE newness = 1"
	}
	entries, err := d.query(ctx, query+newestFirst, pattern, n)
	slices.Reverse(entries)
	return entries, err
}

func (d *database) query(ctx context.Context, query string, args ...any) ([]Entry, error) {
	rows, err := d.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("cannot read the history; see the kernel's log: %w", err)
	}
	defer rows.Close()
	var entries []Entry
	for rows.Next() {
		var e Entry
		if err := rows.Scan(&e.Session, &e.Line, &e.Source, &e.Output); err != nil {
			return nil, fmt.Errorf("cannot read an entry of the history; see the kernel's log: %w", err)
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}
