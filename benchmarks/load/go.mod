module hedgerow.example/load

go 1.24
