// Command warpbook is the Go kernel for Jupyter that teaches GPU programming.
package main

func main() {}
