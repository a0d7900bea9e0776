package images
import ("testing";"os";"path/filepath";"encoding/binary";"fmt";"strings";"sort")
func TestZZ(t *testing.T){
 b,_:=os.ReadFile("/tmp/img/cmp/resize.bin")
 i32:=func()int{v:=int(int32(binary.LittleEndian.Uint32(b)));b=b[4:];return v}
 var r Resampler; n,bad:=0,0
 for len(b)>0 { w,h,W,H,f:=i32(),i32(),i32(),i32(),i32()
  src:=&RGB{b[:3*w*h],3*w,w,h}; b=b[3*w*h:]; want:=b[:3*W*H]; b=b[3*W*H:]
  dst:=NewRGB(W,H); r.Resize(dst,src,Filter(f)); n++
  if string(dst.Pix)!=string(want){bad++; if bad<5 {t.Error(w,h,W,H,f)}}}
 fmt.Println("resize",n,"bad",bad)
 fs,_:=filepath.Glob("/tmp/img/cmp/*.raw")
 type st struct{n,max int; sum,cnt float64}; m:=map[string]*st{}
 for _,f:=range fs{ raw,_:=os.ReadFile(f); d,_:=os.ReadFile(strings.TrimSuffix(f,".raw"))
  im,err:=Decode(d); key:=strings.SplitN(filepath.Base(f),"_",2)[1]
  if err!=nil{t.Error(f,err);continue}
  w:=int(binary.LittleEndian.Uint32(raw)); h:=int(binary.LittleEndian.Uint32(raw[4:])); raw=raw[8:]
  if w!=im.Width||h!=im.Height{t.Error(f,"size");continue}
  s:=m[key]; if s==nil{s=&st{};m[key]=s}; s.n++
  mx:=0
  for i:=range raw{ d:=int(raw[i])-int(im.Pix[i]); if d<0{d=-d}; if d>mx{mx=d}; s.sum+=float64(d); s.cnt++}
  s.max=max(s.max,mx)
  if mx>2 {fmt.Println(f,mx,w,h)}
 }
 var ks []string; for k:=range m{ks=append(ks,k)}; sort.Strings(ks)
 for _,k:=range ks{s:=m[k];fmt.Println(k,s.n,"max",s.max,"mean",s.sum/s.cnt)}
}
