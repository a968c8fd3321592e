module caesura.test/pause

go 1.26.0
