//go:build linux && !amd64

package engine

// The numbers of the generic system call table (arm64, riscv64, loong64).
const readNumber, readvNumber = "63", "65"
