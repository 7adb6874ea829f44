package onnx
import ("testing";"os";"fmt";"github.com/burngen/burngen/onnx/internal/wire")
func TestDump(t *testing.T){
 data,_:=os.ReadFile(os.Getenv("MODEL"))
 m,err:=wire.ReadModel(data,wire.Limits{})
 if err!=nil{t.Fatal(err)}
 for i,n:=range m.Graph.Nodes { 
  s:=fmt.Sprintf("%d %s %s %q -> %q",i,n.Name,n.OpType,n.Inputs,n.Outputs)
  for _,a:=range n.Attrs { s+=fmt.Sprintf(" %s=%d %v %v",a.Name,a.I,a.Ints,a.S); if a.T!=nil {b,e:=a.T.Bytes(); s+=fmt.Sprint(a.T.Type,a.T.Dims,b[:min(len(b),32)],e)} }
  fmt.Println(s)
 }
 for _,v:=range m.Graph.Inputs { fmt.Printf("in %s %+v\n",v.Name,v.Type) }
 for _,v:=range m.Graph.Outputs { fmt.Printf("out %s %+v\n",v.Name,v.Type) }
}
