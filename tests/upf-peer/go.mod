module splitplane/upf-peer

go 1.19

require github.com/wmnsk/go-gtp v0.8.10
