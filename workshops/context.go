package workshops

import "context"

type deviceKey struct{}

// WithDevice makes checks that run under the context use a device: "auto", "gpu",
// "gpu:1" or "sim".
func WithDevice(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, deviceKey{}, name)
}

// DeviceOf is the device of the context, "auto" when it names none.
func DeviceOf(ctx context.Context) string {
	if name, ok := ctx.Value(deviceKey{}).(string); ok && name != "" {
		return name
	}
	return "auto"
}

type progressKey struct{}

// WithProgress has f told how many of the checks are done, before each and at the end;
// name is that of the check that begins, "" at the end.
func WithProgress(ctx context.Context, f func(done, total int, name string)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// progressOf returns what the context's progress is told to.
func progressOf(ctx context.Context) func(done, total int, name string) {
	if f, ok := ctx.Value(progressKey{}).(func(done, total int, name string)); ok {
		return f
	}
	return func(int, int, string) {}
}
