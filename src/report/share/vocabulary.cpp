// SPDX-License-Identifier: Apache-2.0
#include "report/share/vocabulary.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/strings.h"

namespace holter::report::share {

namespace {

using Words = std::set<std::string, std::less<>>;

Words words(std::string_view text) {
  Words out;
  for (const auto word : base::split_blanks(text)) out.emplace(word);
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

bool is_ordinary(std::string_view word) {
  static const Words all = words(
      // grammar and everyday words
      "a about above active after again all already also an and another any are as at bad be because been before being "
      "below better between both but by can cannot closed could current dead default did different do does done down each "
      "early either empty end enough error errors ever every exited expected failed failure failures fatal fault few file "
      "first for found free from full gave given go gone good got had has have he healthy her here high him his how idle if "
      "ignored in inside into invalid is it its itself just keeps key known last late least left less level like list local "
      "log long loss lost low made main make many may me message missing more most much must name named near new next no "
      "none nor not nothing now null number of off ok old on once one only open or other others our out over own part path "
      "place present ready really reason remote right running same second see seen set several she should silent since slow "
      "small so some soon start started state status still stop stopped such sure than that the their them then there these "
      "they thing this those through time timeout times to together too took two type under undefined unknown until up use "
      "used user users value very via wait waiting waits was way we well went were what when where which while who whole "
      "why will with within without word work worked works would wrong yes yet you your false true "
      // machines and jobs
      "account action address agent alert allocation allocator api app application array attempt backend batch bios block "
      "board body bond boot bootstrap bridge buffer bug build building bus cable cache call called cancelled card case "
      "channel check checkpoint chunk clean client clock cluster code command comm communicator compile compute config "
      "connect connected connection consumer container controller core count counter cpu crash crashed create cuda daemon "
      "data dataset date dcgm debug decode decoder dev device devices dim dimm directory disk dispatch dispatcher dmesg "
      "docker domain done dp draining drain drained driver drop dump dynamic ecc edge elastic embedding encoder engine entry "
      "env epoch eval evaluation event events exception execution executor exit expert export fabric fan fail fallback fetch "
      "fetcher fewer field finished firmware flag flow folder forward frame framework frontend function gateway generate "
      "generation gid global gloo gpu gpus grad gradient graph group groups guest handler hang hardware hash head header "
      "health heartbeat help host hostname hosts http https id identifier image index infiniband info init initialised "
      "initialized input instance internal interface interrupt invoked io ip item iter iteration job jobs kernel kill killed "
      "kube kubelet label lane launch launcher layer leader lib library limit line link load loaded loader localhost lock "
      "logger login logits lora lustre machine manager mapping master max measure memory mesh metadata metric min mlx5 mode "
      "model module monitor mount move nan nccl network nfs nic node nodelist nodes null numa nvidia nvlink nvme nvswitch "
      "object offset oom operation operator optimizer option order output owner package page parallel parameter param params "
      "parent partition passed peer peers pending perf phase pid pipeline pipe pod pods point policy pool port ports power "
      "preempted prefill prefix prepare pretrain pretraining pretrained private probe problem process processes processor "
      "production profile program progress project prompt proxy public python queue quota rack rail random rank ranks rate "
      "ray rdma read reader reboot rebooted rebooting receive recv record recover reduce region register relay release "
      "reload remote remove render replica reply request requests reserved reset resource response restart restarted result "
      "resume retry reward ring roce rollout root route router row run runner runtime sample sampler save schedule scheduler "
      "script seed send sender sent sequence serial server service serving session setup shard shared shell shm shutdown "
      "shut signal size slot slurm slurmd slurmstepd socket software source spec srun stack staging stage standby step "
      "storage store stream subnet submit support suspended swap switch sync system systemd table target task tasks team "
      "temp temperature template tensor term terminated test tester testing thermal thread threads throttle token tokens "
      "tokenizer tool topology total trace train trainer training transfer transport trap tree trial tunnel ubuntu uid unit "
      "unhealthy unreachable unresponsive update upload usage util validation validator vector verify version video view "
      "virtual vision volume warn warning watchdog weight weights window worker workers workload world write writer xid zero "
      "zone k8s kubernetes prometheus grafana oom nvml "
      // parallel groups
      "amax bias bucket context cp ddp default dense ep etp fp8 fsdp hierarchical hsdp inter intra moe mp partial pg position "
      "pp replicate sp tp vpp xpu nccl2 ulysses spmd distributed optimizer instance dims allreduce allgather broadcast "
      "reducescatter alltoall sendrecv deepspeed megatron torch");
  return all.contains(base::lower(word));
}

bool is_ordinary_phrase(std::string_view phrase) {
  std::string part;
  const auto ordinary = [&] {
    const bool number = part.find_first_not_of("0123456789") == std::string::npos;
    const auto digits = part.find_last_not_of("0123456789");
    return number || is_ordinary(part) || (digits != std::string::npos && is_ordinary(part.substr(0, digits + 1)));
  };
  for (const char c : phrase) {
    if (is_alpha(c) || is_digit(c)) {
      part += c;
      continue;
    }
    if (!ordinary()) return false;
    part.clear();
  }
  return ordinary();
}

bool is_public_package(std::string_view name) {
  static const Words all = words(
      "torch torchvision torchrun torchgen torchdata torchtitan torchtune numpy scipy pandas nccl megatron deepspeed "
      "transformers vllm sglang triton jax jaxlib flax tensorflow keras apex flash_attn transformer_engine accelerate "
      "lightning pytorch_lightning ray datasets tokenizers safetensors huggingface_hub peft trl verl xformers "
      "bitsandbytes colossalai fairscale horovod nemo cupy numba flashinfer deep_ep nixl tensorrt_llm uvicorn fastapi "
      "starlette pydantic zmq grpc aiohttp requests urllib3 httpx httpcore boto3 botocore s3transfer fsspec s3fs wandb "
      "tensorboard webdataset multiprocessing asyncio concurrent importlib json logging unittest xml http email ctypes "
      "encodings collections python3 threading.py socket.py selectors.py subprocess.py queue.py pickle.py runpy.py ssl.py "
      "contextlib.py functools.py tempfile.py shutil.py weakref.py copy.py random.py signal.py gzip.py tarfile.py");
  return all.contains(name);
}

bool is_public_source(std::string_view path) {
  static const Words all = words(
      "ProcessGroupNCCL.cpp ProcessGroupGloo.cpp ProcessGroupWrapper.cpp ProcessGroup.cpp NCCLUtils.cpp NCCLUtils.hpp "
      "FlightRecorder.cpp FlightRecorder.hpp FlightRecorderDetail.hpp TCPStore.cpp TCPStoreLibUvBackend.cpp "
      "TCPStoreBackend.cpp FileStore.cpp HashStore.cpp Store.cpp Store.hpp socket.cpp Socket.cpp error.h Utils.hpp "
      "Backend.cpp Work.cpp reducer.cpp logger.cpp init.cpp Functional.cpp CUDAFunctions.cpp CUDAException.cpp "
      "CUDAException.h CUDACachingAllocator.cpp CUDAHooks.cpp CUDAGraph.cpp Exception.cpp Exception.h Loops.cuh "
      "TensorCompare.cu IndexKernel.cu Indexing.cu Loss.cu Copy.cu thread.cpp ThreadPool.cpp engine.cpp "
      "python_engine.cpp pair.cc context.cc tcp.cc device.cc buffer.cc unbound_buffer.cc init.cc proxy.cc enqueue.cc "
      "bootstrap.cc group.cc channel.cc transport.cc net.cc net_ib.cc net_socket.cc p2p.cc shm.cc socket.cc ibvwrap.cc "
      "ibvsymbols.cc cudawrap.cc nvmlwrap.cc coll_net.cc nvls.cc ras.cc client_support.cc topo.cc search.cc paths.cc "
      "tuning.cc connect.cc rings.cc trees.cc utils.cc param.cc alloc.h checks.h strongstream.cc register.cc ceval.c "
      "ceval_gil.c ceval_gil.h lowlevellock.c futex-internal.c pthread_cond_wait.c pthread_mutex_lock.c nanosleep.c "
      "clock_nanosleep.c poll.c read.c libc_start_call_main.h libc-start.c start_thread pthread_create.c clone3.S clone.S "
      "distributed_c10d.py c10d_logger.py _distributed_c10d.pyi elastic_launch.py launcher_api.py async_llm.py "
      "_flat_param.py _state_dict_utils.py _functional_collectives.py multihost_utils.py gpu_model_runner.py multiproc_executor.py nixl_connector.py default_loader.py engine_core.py");
  if (all.contains(path.substr(path.rfind('/') + 1))) return true;
  for (const std::string_view part : {"/c10/", "/aten/", "torch/csrc/", "sysdeps/", "/nptl/", "./io/", "./misc/"}) {
    if (path.find(part) != std::string_view::npos && !path.starts_with("/home/")) return true;
  }
  return false;
}

bool is_common_function(std::string_view name) {
  static const Words all = words(
      "main forward backward step train run fit test evaluate validate eval wrapper wrapped inner decorator start stop join "
      "wait get put next send recv read write open close save load train_step training_step eval_step validation_step "
      "train_one_epoch train_epoch train_loop training_loop pretrain save_checkpoint load_checkpoint forward_step "
      "backward_step optimizer_step all_reduce all_gather reduce_scatter broadcast barrier reduce gather scatter all_to_all "
      "isend irecv batch_isend_irecv init_process_group destroy_process_group synchronize item cpu cuda to collate_fn "
      "worker_loop setup cleanup init loss_fn compute_loss generate decode encode prefill sample execute call apply "
      "_all_gather_base _reduce_scatter_base state_dict full_state_dict load_state_dict clip_grad_norm clip_grad_norm_ "
      "jit_load next_batch execute_model step_fn loop process update flush shutdown");
  if (name.starts_with("__") || name.starts_with("<") || name.size() < 3) return true;
  return all.contains(name) || is_ordinary(name);
}

bool is_common_process(std::string_view name) {
  static const Words all = words(
      "python torchrun torchelastic deepspeed accelerate ray raylet gcs_server srun slurmd slurmstepd sbatch mpirun mpiexec "
      "orted prted bash sh sleep ssh sshd sudo systemd dockerd containerd containerd-shim runc kubelet kube-proxy "
      "nvidia-smi nvidia-persistenced nv-hostengine nv-fabricmanager dcgmi dcgm-exporter all_reduce_perf node_exporter "
      "java node Xorg pt_main_thread pt_data_worker pt_data_pin pt_autograd pt_nccl_watchdg pt_elastic vllm sglang trtllm "
      "tritonserver gdb py-spy swapper khugepaged kswapd unknown [unknown] <unknown> [Not rsyslogd journald");
  if (all.contains(name) || name.starts_with("VLLM") || name.starts_with("sglang::")) return true;
  if (name.starts_with("kworker") || name.starts_with("pt_") || name.starts_with("dcgm") || is_ordinary(name) ||
      name.starts_with("systemd-"))
    return true;
  const auto end = name.find_last_not_of("0123456789.");
  return end != std::string_view::npos && name.substr(0, end + 1) == "python";
}

bool is_system_user(std::string_view name) {
  static const Words all = words(
      "root nobody daemon slurm slurmuser munge ubuntu centos rocky debian ec2-user admin administrator sshd nvidia "
      "systemd polkitd messagebus syslog www-data docker git");
  return all.contains(base::lower(name));
}

bool is_device_or_rank(std::string_view name) {
  static const Words all = words(
      "rank ranks local_rank world gpu gpus cpu cuda mlx mlx5 mlx4 hfi bnxt_re irdma eth ib ibs ibp eno ens enp bond nvme sd "
      "step epoch iter iteration iteration layer worker thread nvswitch nvidia nvidia-nvswitch nvidia-uvm nccl nvlink link "
      "lane port channel stage device dev xid sxid sxid pg tp pp dp ep cp fp bf int uint float h a b v l gb mi rtx sm attempt "
      "restart shard part epoch numa socket core tid pid line python py net coll ring tree node_rank cudnn cublas libnccl");
  std::string stem(name);
  while (!stem.empty() && !is_alpha(stem.back())) stem.pop_back();
  std::string lower = base::lower(stem);
  if (stem.size() == name.size() || all.contains(lower)) return stem.size() != name.size();
  const auto digits = lower.find_first_of("0123456789");  // "mlx5_3", "ibp65s0", "h100"
  return digits != std::string::npos && all.contains(lower.substr(0, digits));
}

bool is_public_service(std::string_view label) {
  static const Words all = words(
      "huggingface github gitlab pytorch nvidia amazonaws googleapis google docker quay pypi anaconda wandb s3 gcs azure "
      "openai cloudflare ubuntu debian kernel www docs api registry");
  return all.contains(base::lower(label));
}

bool is_public_site(std::string_view host) {
  static const Words all = words("nvidia.com docs.nvidia.com pytorch.org docs.pytorch.org docs.vllm.ai kernel.org");
  return all.contains(host);
}

std::string_view known_extension(std::string_view path) {
  static const Words all = words(
      ".py .pyx .ipynb .so .cc .cpp .cu .cuh .c .h .hpp .rs .go .sh .sbatch .slurm .yaml .yml .json .jsonl .toml .ini .cfg "
      ".conf .log .txt .out .err .pt .pth .ckpt .bin .idx .npy .npz .safetensors .distcp .parquet .tar .gz .zst .xz .csv "
      ".tsv .pkl .dmesg .stat .xml .html .md .pyspy .gdb .stacks .folded .service .sock .lock .tmp");
  const auto name = path.substr(path.find_last_of("/\\") + 1);
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || !all.contains(base::lower(name.substr(dot)))) return {};
  return name.substr(dot);
}

}  // namespace holter::report::share
