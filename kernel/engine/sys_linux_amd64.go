package engine

const readNumber, readvNumber = "0", "19"
