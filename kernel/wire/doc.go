// Package wire turns Jupyter messages into frames and back.
//
// A message travels as a list of frames:
//
//	identity ... <IDS|MSG> signature header parent_header metadata content buffer ...
//
// A [Signer] signs the four JSON frames with HMAC-SHA256; with an empty key
// messages are unsigned. [Signer.Encode] makes frames, a [Decoder] checks and
// reads them. Whatever bytes a peer sends, Decode returns a message or one of
// the package's errors; it never panics and keeps a bounded memory of the
// signatures it has seen, so that a recorded message cannot be sent again.
//
// A [Session] makes messages: it owns the session id and the message ids of one
// process, kernel or client. Headers keep the bytes they came in, so that a
// reply's parent_header is the request's header byte for byte and fields we do
// not know survive.
//
// A [ConnectionInfo] is the connection file that tells both sides where the
// sockets are and which key signs.
package wire
