// This file lets the package declare functions without bodies (see label.go).
