# AOT ID: ['0_inference']
import torch
from torch._inductor.async_compile import AsyncCompile
async_compile = AsyncCompile()

triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''
import triton
@triton.jit
def triton_poi_fused_add_0(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    tmp0 = tl.load(in_ptr0)
''', device_str='cuda')

async_compile.wait(globals())
del async_compile

class Runner:
    def call(self, args):
        arg0_1, arg1_1, arg2_1 = args
        args.clear()
        assert_size_stride(arg0_1, (4, ), (1, ))
        with torch.cuda._DeviceGuard(0):
            torch.cuda.set_device(0)
            # Topologically Sorted Source Nodes: [full], Original ATen: [_c10d_functional.all_gather_into_tensor]
            buf0 = torch.ops._c10d_functional.all_gather_into_tensor.default(arg0_1, 2, '0')
            assert_size_stride(buf0, (8, ), (1, ))
            buf1 = empty_strided_cuda((4, 4), (4, 1), torch.float32)
            # Topologically Sorted Source Nodes: [mm], Original ATen: [aten.mm]
            extern_kernels.mm(arg1_1, arg2_1, out=buf1)
            torch.ops._c10d_functional.wait_tensor.default(buf0)
            buf2 = empty_strided_cuda((8, ), (1, ), torch.float32)
            # Topologically Sorted Source Nodes: [add], Original ATen: [aten.add]
            stream0 = get_raw_stream(0)
            triton_poi_fused_add_0.run(buf0, buf1, buf2, 8, stream=stream0)
            buf3 = buf1; del buf1  # reuse
            # Topologically Sorted Source Nodes: [mm_1], Original ATen: [aten.mm]
            extern_kernels.mm(reinterpret_tensor(arg1_1, (4, 4), (1, 4), 0), arg2_1, out=buf3)
            del arg1_1
            torch.ops._c10d_functional.all_reduce_.default(buf3, 'sum', '0')
            torch.ops._c10d_functional.wait_tensor.default(buf3)
            buf4 = torch.ops._c10d_functional.all_gather_into_tensor_coalesced.default([arg0_1, buf2], 2, '0')
            buf5 = buf4[0]
            buf6 = buf4[1]
            del buf4
            torch.ops._c10d_functional.wait_tensor.default(buf6)
        return (buf2, buf3, buf5, buf6, )

runner = Runner()
call = runner.call

def benchmark_compiled_module(times=10, repeat=10):
    from torch._dynamo.testing import rand_strided
    arg0_1 = rand_strided((4, ), (1, ), device='cuda:0', dtype=torch.float32)
    arg1_1 = rand_strided((4, 4), (4, 1), device='cuda:0', dtype=torch.float32)
    arg2_1 = rand_strided((4, 4), (4, 1), device='cuda:0', dtype=torch.float32)
    return call([arg0_1, arg1_1, arg2_1])
