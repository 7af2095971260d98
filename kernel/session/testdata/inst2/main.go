package main
import ("context";"github.com/warpbook/warpbook/kernel/gotool";"fmt";"os")
func main(){ if err:=gotool.Install(context.Background(),"/work/main","/tmp/myhost/host",nil); err!=nil {fmt.Println(err);os.Exit(1)} }
