package kernel_test

// transposition is a kernel that transposes tiles of 16 × 16 through shared memory.
const transposition = `// y = xᵀ of a matrix with m rows and n columns, multiples of 16
kernel transpose(%x: global f32, %y: global f32 written, %m: i32, %n: i32) block 16, 16, 1 {
  shared %tile: f32[272] written
  %0 = thread x : i32
  %1 = thread y : i32
  %2 = block x : i32
  %3 = block y : i32
  %4 = const 16 : i32
  %5 = const 17 : i32
  %6 = mul %3, %4 : i32
  %7 = mul %2, %4 : i32
  %8 = add %6, %1 : i32
  %9 = add %7, %0 : i32
  %10 = mul %8, %n : i32
  %11 = add %10, %9 : i32
  %12 = load %x[%11] : f32
  %13 = mul %1, %5 : i32
  %14 = add %13, %0 : i32
  store %tile[%14], %12
  barrier
  %15 = mul %0, %5 : i32
  %16 = add %15, %1 : i32
  %17 = load %tile[%16] : f32
  %18 = add %7, %1 : i32
  %19 = add %6, %0 : i32
  %20 = mul %18, %m : i32
  %21 = add %20, %19 : i32
  store %y[%21], %17
}
`

// histogram is a kernel that counts bytes, first in shared memory.
const histogram = `// h[b] += how often the byte b is in x
kernel histogram(%x: global u8, %h: global u32 written, %n: i32) block 64, 1, 1 {
  shared %count: u32[256] written
  %0 = thread x : i32
  %1 = const 64 : i32
  %2 = const 256 : i32
  %3 = const 0 : u32
  %4 = const 1 : u32
  for %5 = %0 to %2 by %1 {
    store %count[%5], %3
  }
  barrier
  %6 = block x : i32
  %7 = mul %6, %2 : i32
  %8 = add %7, %2 : i32
  %9 = min %8, %n : i32
  %10 = add %7, %0 : i32
  for %11 = %10 to %9 by %1 {
    %12 = load %x[%11] : u8
    %13 = convert %12 : i32
    %14 = atomic_add %count[%13], %4 : u32
  }
  barrier
  for %15 = %0 to %2 by %1 {
    %16 = load %count[%15] : u32
    %17 = atomic_add %h[%15], %16 : u32
  }
}
`
