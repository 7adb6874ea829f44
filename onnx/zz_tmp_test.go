package onnx
import ("testing";"path/filepath";"time";"os")
func TestAllImports(t *testing.T){
 dirs,_:=filepath.Glob(filepath.Join(corpus(t,"."),os.Getenv("GLOB"),"*.onnx"))
 for _,d:=range dirs {
  s:=time.Now()
  m,err:=Open(d,Options{})
  el:=time.Since(s)
  if err!=nil { t.Logf("REFUSED %s %v: %v",d,el,err); continue}
  t.Logf("OK %s %v nodes=%d weights=%d",d,el,m.Nodes,len(m.Module.Weights))
 }
}
