package nvrtc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// Attributes of a kernel in the section .nv.info (EIATTR), as cuobjdump prints them.
const (
	attrFrameSize   = 0x11 // bytes of stack, by symbol
	attrMinStack    = 0x12
	attrRegCount    = 0x2f // registers, by symbol
	formatWithSize  = 0x04 // an attribute whose value is preceded by its size
	symbolValueSize = 8
)

// resources reads from machine code what each kernel takes.
func resources(kernels []Signature, cubin []byte) error {
	f, err := elf.NewFile(bytes.NewReader(cubin))
	if err != nil {
		return err
	}
	syms, err := f.Symbols()
	if err != nil {
		return fmt.Errorf("read its symbols: %w", err)
	}
	bySymbol := map[string]*Signature{}
	for i := range kernels {
		bySymbol[kernels[i].Symbol] = &kernels[i]
	}
	kernelOf := func(index uint32) *Signature {
		if index == 0 || int(index) > len(syms) {
			return nil
		}
		return bySymbol[syms[index-1].Name]
	}
	for _, s := range f.Sections {
		switch {
		case s.Name == ".nv.info":
			data, err := s.Data()
			if err != nil {
				return err
			}
			attributes(data, func(attr byte, value []byte) {
				if len(value) < symbolValueSize {
					return
				}
				k := kernelOf(binary.LittleEndian.Uint32(value))
				n := int(binary.LittleEndian.Uint32(value[4:]))
				if k == nil {
					return
				}
				k.Measured = true
				switch attr {
				case attrRegCount:
					k.Registers = n
				case attrFrameSize:
					k.Local = n
				}
			})
		case strings.HasPrefix(s.Name, ".nv.shared."):
			if k := bySymbol[strings.TrimPrefix(s.Name, ".nv.shared.")]; k != nil {
				k.Shared = int(s.Size)
			}
		case strings.HasPrefix(s.Name, ".nv.constant0."):
			if k := bySymbol[strings.TrimPrefix(s.Name, ".nv.constant0.")]; k != nil {
				k.Const = int(s.Size)
			}
		}
	}
	return nil
}

// attributes walks the list: format, attribute, then a size and a value, or two
// bytes of value.
func attributes(data []byte, each func(attr byte, value []byte)) {
	for len(data) >= 4 {
		format, attr, n := data[0], data[1], int(binary.LittleEndian.Uint16(data[2:]))
		data = data[4:]
		if format != formatWithSize {
			continue
		}
		if n > len(data) {
			return
		}
		each(attr, data[:n])
		data = data[n:]
	}
}
