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
