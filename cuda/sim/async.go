package sim

// asyncBuilders are the decoders of matrix instructions, asynchronous copies,
// their barriers, and clusters.
func asyncBuilders() map[string]func(d *decoder, in *Inst) error {
	return map[string]func(d *decoder, in *Inst) error{
		"mma": (*decoder).mma, "ldmatrix": (*decoder).ldmatrix, "stmatrix": (*decoder).stmatrix, "movmatrix": (*decoder).movmatrix,
	}
}
