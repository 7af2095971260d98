package server

// serveControl answers requests at once, while a cell runs too. What may take
// its time gets a goroutine, so that an interrupt is never behind it.
func (k *kernel) serveControl() {
	incoming := k.sockets.Recv(control)
	for {
		select {
		case frames, ok := <-incoming:
			if !ok {
				return
			}
			r := k.receive(control, frames)
			if r == nil {
				continue
			}
			if !routes(control, r.msg.Header.MsgType).slow {
				k.serve(r)
				continue
			}
			select {
			case k.slots <- struct{}{}:
				go func() {
					defer func() { <-k.slots }()
					k.serve(r)
				}()
			default:
				r.refused = failed("busy", "the kernel is answering too many requests on control; ask again")
				k.serve(r)
			}
		case <-k.ctx.Done():
			return
		}
	}
}
