package transport

import (
	"slices"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// endpoint is where go-zeromq finds a channel.
func endpoint(s *Sockets, ch Channel) string {
	info := s.Info()
	network, address := info.Endpoint(*ch.port(&info))
	if network == "unix" {
		network = "ipc"
	}
	return network + "://" + address
}

// go-zeromq's own sockets, an independent client, are served.
func TestGoZeroMQ(t *testing.T) {
	for _, network := range []string{"tcp", "ipc"} {
		t.Run(network, func(t *testing.T) {
			s := kernel(t, Config{Info: where(t, network)})
			ctx := background(t)

			dealer := zmq4.NewDealer(ctx, zmq4.WithID(zmq4.SocketIdentity("me")))
			heart := zmq4.NewReq(ctx)
			news := zmq4.NewSub(ctx)
			for socket, ch := range map[zmq4.Socket]Channel{dealer: Shell, heart: Heartbeat, news: IOPub} {
				defer socket.Close()
				if err := socket.Dial(endpoint(s, ch)); err != nil {
					t.Fatal(err)
				}
			}
			for _, socket := range []zmq4.Socket{dealer, heart} {
				if err := socket.SendMulti(zmq4.NewMsgFrom([]byte("a"), nil, make([]byte, 100<<10))); err != nil {
					t.Fatal(err)
				}
				got, err := socket.Recv()
				if err != nil || len(got.Frames) != 3 || string(got.Frames[0]) != "a" || len(got.Frames[2]) != 100<<10 {
					t.Fatalf("got %d frames, %v", len(got.Frames), err)
				}
			}
			if err := news.SetOption(zmq4.OptionSubscribe, ""); err != nil {
				t.Fatal(err)
			}
			subscribed(t, s, 1)
			const lines = 10_000
			for n := range lines {
				s.Publish([][]byte{[]byte("stream"), []byte(line(n))})
			}
			for n := range lines {
				got, err := news.Recv()
				if err != nil || join(got.Frames) != "stream|"+line(n) {
					t.Fatalf("got %q %v instead of line %d", got.Frames, err, n)
				}
			}
		})
	}
}

// request is as many frames, and as large, as an execute_request.
func request() [][]byte {
	return [][]byte{[]byte("<IDS|MSG>"), make([]byte, 64), make([]byte, 220), []byte("{}"), []byte("{}"), make([]byte, 160)}
}

// percentiles runs a round trip b.N times and reports where the middle and the
// slow ones lie.
func percentiles(b *testing.B, roundTrip func()) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		roundTrip()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkEcho is a round trip of our client through our ROUTER.
func BenchmarkEcho(b *testing.B) {
	for _, network := range []string{"tcp", "ipc"} {
		b.Run(network, func(b *testing.B) {
			c := connect(b, kernel(b, Config{Info: where(b, network)}))
			percentiles(b, func() {
				if err := c.Send(Shell, request()); err != nil {
					b.Fatal(err)
				}
				receive(b, c.Recv(Shell))
			})
		})
	}
}

// BenchmarkEchoGoZeroMQ is go-zeromq's DEALER through our ROUTER and through
// go-zeromq's own.
func BenchmarkEchoGoZeroMQ(b *testing.B) {
	run := func(b *testing.B, endpoint string) {
		client := zmq4.NewDealer(b.Context())
		defer client.Close()
		if err := client.Dial(endpoint); err != nil {
			b.Fatal(err)
		}
		percentiles(b, func() {
			if err := client.SendMulti(zmq4.NewMsgFrom(request()...)); err != nil {
				b.Fatal(err)
			}
			if _, err := client.Recv(); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.Run("guarded", func(b *testing.B) { run(b, endpoint(kernel(b, Config{}), Shell)) })
	b.Run("plain", func(b *testing.B) {
		server := zmq4.NewRouter(b.Context())
		defer server.Close()
		if err := server.Listen("tcp://127.0.0.1:0"); err != nil {
			b.Fatal(err)
		}
		go func() {
			for {
				msg, err := server.Recv()
				if err != nil || server.SendMulti(msg) != nil {
					return
				}
			}
		}()
		run(b, "tcp://"+server.Addr().String())
	})
}

// BenchmarkPublish is the cost of a short stream message for one subscriber.
func BenchmarkPublish(b *testing.B) {
	s := kernel(b, Config{})
	c := connect(b, s)
	subscribed(b, s, 1)
	go func() {
		for range c.Recv(IOPub) {
		}
	}()
	for b.Loop() {
		if err := s.Publish(request()); err != nil {
			b.Fatal(err)
		}
	}
}
