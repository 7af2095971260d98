module example.com/book

go 1.26.0
