//! I/O engines, and the options that only some of them know.

use fathom_workload::{Backend, FileOperation, StatCall};

use super::Kind::{Flag, Number, Switch, Text, Word};
use super::Support::{AtRun, Built, NoEffect, WithEngine};
use super::{Carried, EngineRow, OptionRow, engine_row};

const URING: &[&str] = &["io_uring", "io_uring_cmd"];
const CMDPRIO: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
const NET: &[&str] = &["net", "netsplice", "rdma", "libhdfs"];
const HTTP: &[&str] = &["http"];
const BLKIO: &[&str] = &["libblkio"];
const XNVME: &[&str] = &["xnvme"];
/// With `io_uring` those of metadata, which a run refuses, and what has no effect but beside it.
const PROTECTED: &[&str] = &["io_uring", "io_uring_cmd", "xnvme"];

/// Options of single engines.
#[rustfmt::skip]
pub(super) const ROWS: &[OptionRow] = &[
    engine_row("hipri", &["io_uring", "io_uring_cmd", "pvsync2", "sg", "libblkio"], Flag, Built, "Poll for completions"),
    engine_row("hipri_percentage", &["pvsync2"], Number, Built, "Share of polled I/O"),
    engine_row("uncached", &["io_uring", "io_uring_cmd", "pvsync2"], Number, Built, "Buffered I/O that leaves nothing in the page cache"),
    engine_row("nowait", &["io_uring", "io_uring_cmd", "pvsync2", "libaio"], Switch, Built, "Fail where an I/O would block"),
    engine_row("cmdprio_percentage", CMDPRIO, Number, Built, "Share of I/O with a priority"),
    engine_row("cmdprio_class", CMDPRIO, Number, Built, "Priority class of that share"),
    engine_row("cmdprio_hint", CMDPRIO, Number, Built, "Priority hint of that share"),
    engine_row("cmdprio", CMDPRIO, Number, Built, "Priority of that share"),
    engine_row("cmdprio_bssplit", CMDPRIO, Text, Built, "Priorities by size"),
    engine_row("fixedbufs", URING, Flag, NoEffect, "Register the buffers with the kernel"),
    engine_row("registerfiles", URING, Flag, NoEffect, "Register the files with the kernel"),
    engine_row("sqthread_poll", &["io_uring", "io_uring_cmd", "xnvme"], Flag, Built, "A kernel thread takes submissions"),
    engine_row("sqthread_poll_cpu", URING, Number, Built, "Processor of that thread"),
    engine_row("nonvectored", URING, Switch, NoEffect, "Use the plain read and write commands"),
    engine_row("force_async", URING, Number, Built, "Hand I/O to kernel workers at once"),
    engine_row("cmd_type", URING, Word, WithEngine, "Kind of pass-through command"),
    engine_row("md_per_io_size", PROTECTED, Number, AtRun("0"), "Metadata bytes of an I/O"),
    engine_row("pi_act", PROTECTED, Switch, WithEngine, "Let the device handle protection information"),
    engine_row("pi_chk", PROTECTED, Text, WithEngine, "Protection fields that are checked"),
    engine_row("apptag", PROTECTED, Number, WithEngine, "Application tag"),
    engine_row("apptag_mask", PROTECTED, Number, WithEngine, "Mask of the application tag"),
    engine_row("cdb_len", URING, Number, WithEngine, "Length of a SCSI command"),
    engine_row("write_mode", URING, Word, WithEngine, "Command that writes become"),
    engine_row("verify_mode", URING, Word, WithEngine, "Command that verifies"),
    engine_row("read_mode", URING, Word, WithEngine, "Command that reads become"),
    engine_row("deac", URING, Switch, WithEngine, "Deallocate with write-zeroes"),
    engine_row("verify_bytchk", URING, Number, WithEngine, "How a SCSI verify compares"),
    engine_row("readfua", &["io_uring", "io_uring_cmd", "sg"], Switch, WithEngine, "Reads that bypass the device's cache"),
    engine_row("writefua", &["io_uring", "io_uring_cmd", "sg"], Switch, WithEngine, "Writes that bypass the device's cache"),
    engine_row("sg_write_mode", &["sg"], Word, WithEngine, "SCSI command that writes become"),
    engine_row("stream_id", &["sg"], Number, WithEngine, "Write stream"),
    engine_row("userspace_reap", &["libaio"], Flag, NoEffect, "Reap completions without a system call"),
    engine_row("libaio_vectored", &["libaio"], Switch, NoEffect, "Vectored commands"),
    engine_row("thp", &["mmap"], Number, NoEffect, "Transparent huge pages for the mapping"),
    engine_row("cpuload", &["cpuio"], Number, Built, "Percent of a processor that is burnt"),
    engine_row("cpuchunks", &["cpuio"], Number, Built, "Length of a burst of work, in microseconds"),
    engine_row("cpumode", &["cpuio"], Word, Built, "What a burst of work does"),
    engine_row("exit_on_io_done", &["cpuio"], Switch, Built, "End once all jobs with I/O have"),
    engine_row("hostname", NET, Text, WithEngine, "Host to talk to"),
    engine_row("port", NET, Number, WithEngine, "Port to talk to"),
    engine_row("protocol", NET, Word, WithEngine, "Network protocol"),
    engine_row("nodelay", NET, Switch, WithEngine, "Send small packets at once"),
    engine_row("listen", NET, Flag, WithEngine, "Wait for a connection"),
    engine_row("pingpong", NET, Flag, WithEngine, "Send each block back"),
    engine_row("interface", NET, Text, WithEngine, "Network interface"),
    engine_row("ttl", NET, Number, WithEngine, "Time to live of packets"),
    engine_row("window_size", NET, Number, WithEngine, "TCP window"),
    engine_row("mss", NET, Number, WithEngine, "TCP segment size"),
    engine_row("bindname", &["rdma"], Text, WithEngine, "Local name to bind"),
    engine_row("verb", &["rdma"], Word, WithEngine, "RDMA verb"),
    engine_row("stat_type", &["filestat", "dirstat"], Word, Built, "System call that looks at a file"),
    engine_row("program", &["exec"], Text, WithEngine, "Program to run"),
    engine_row("arguments", &["exec"], Text, WithEngine, "Its arguments"),
    engine_row("grace_time", &["exec"], Number, WithEngine, "Time it gets to end"),
    engine_row("std_redirect", &["exec"], Switch, WithEngine, "Keep its output in files"),
    engine_row("donorname", &["e4defrag"], Text, WithEngine, "File that gives its blocks"),
    engine_row("inplace", &["e4defrag"], Number, WithEngine, "When blocks are allocated"),
    engine_row("volume", &["gfapi", "gfapi_async"], Text, WithEngine, "Gluster volume"),
    engine_row("brick", &["gfapi", "gfapi_async"], Text, WithEngine, "Gluster server"),
    engine_row("single-instance", &["gfapi", "gfapi_async"], Switch, WithEngine, "One connection for all"),
    engine_row("skip_bad", &["mtd"], Switch, WithEngine, "Skip bad blocks"),
    engine_row("uri", &["nbd"], Text, Built, "Address of the export"),
    engine_row("clustername", &["rados", "rbd"], Text, WithEngine, "Ceph cluster"),
    engine_row("pool", &["rados", "rbd", "dfs"], Text, WithEngine, "Pool"),
    engine_row("clientname", &["rados", "rbd"], Text, WithEngine, "Ceph user"),
    engine_row("conf", &["rados"], Text, WithEngine, "Ceph configuration file"),
    engine_row("busy_poll", &["rados", "rbd"], Switch, WithEngine, "Poll for completions"),
    engine_row("touch_objects", &["rados"], Switch, WithEngine, "Create objects first"),
    engine_row("rbdname", &["rbd"], Text, WithEngine, "Image"),
    engine_row("rbd_encryption_format", &["rbd"], Text, WithEngine, "Encryption of the image"),
    engine_row("rbd_encryption_passphrase", &["rbd"], Text, WithEngine, "Passphrase of the image"),
    engine_row("chunk_size", &["dfs", "libhdfs"], Number, WithEngine, "Size of a chunk"),
    engine_row("cont", &["dfs"], Text, WithEngine, "DAOS container"),
    engine_row("object_class", &["dfs"], Text, WithEngine, "DAOS object class"),
    engine_row("svcl", &["dfs"], Text, WithEngine, "DAOS service list"),
    engine_row("namenode", &["libhdfs"], Text, WithEngine, "HDFS name node"),
    engine_row("hdfsdirectory", &["libhdfs"], Text, WithEngine, "HDFS directory"),
    engine_row("hdfs_use_direct", &["libhdfs"], Switch, WithEngine, "Short-circuit reads"),
    engine_row("single_instance", &["libhdfs"], Switch, WithEngine, "One connection for all"),
    engine_row("nfs_url", &["nfs"], Text, WithEngine, "Address of the export"),
    engine_row("initiator", &["libiscsi"], Text, WithEngine, "Name of the initiator"),
    engine_row("http_host", HTTP, Text, WithEngine, "Host and bucket"),
    engine_row("http_mode", HTTP, Word, WithEngine, "WebDAV, Swift or S3"),
    engine_row("http_object_mode", HTTP, Word, WithEngine, "How blocks become objects"),
    engine_row("http_pass", HTTP, Text, WithEngine, "Password"),
    engine_row("http_s3_key", HTTP, Text, WithEngine, "S3 secret key"),
    engine_row("http_s3_keyid", HTTP, Text, WithEngine, "S3 key id"),
    engine_row("http_s3_region", HTTP, Text, WithEngine, "S3 region"),
    engine_row("http_s3_security_token", HTTP, Text, WithEngine, "S3 session token"),
    engine_row("http_s3_sse_customer_algorithm", HTTP, Text, WithEngine, "S3 encryption algorithm"),
    engine_row("http_s3_sse_customer_key", HTTP, Text, WithEngine, "S3 encryption key"),
    engine_row("http_s3_storage_class", HTTP, Text, WithEngine, "S3 storage class"),
    engine_row("http_swift_auth_token", HTTP, Text, WithEngine, "Swift token"),
    engine_row("http_user", HTTP, Text, WithEngine, "User"),
    engine_row("http_verbose", HTTP, Number, WithEngine, "How much is printed"),
    engine_row("https", HTTP, Word, WithEngine, "Whether to encrypt"),
    engine_row("libblkio_driver", BLKIO, Text, WithEngine, "Driver"),
    engine_row("libblkio_path", BLKIO, Text, WithEngine, "Path for the driver"),
    engine_row("libblkio_pre_connect_props", BLKIO, Text, WithEngine, "Properties before connecting"),
    engine_row("libblkio_pre_start_props", BLKIO, Text, WithEngine, "Properties before starting"),
    engine_row("libblkio_num_entries", BLKIO, Number, WithEngine, "Entries of a queue"),
    engine_row("libblkio_queue_size", BLKIO, Number, WithEngine, "Size of a queue"),
    engine_row("libblkio_vectored", BLKIO, Switch, WithEngine, "Vectored requests"),
    engine_row("libblkio_write_zeroes_on_trim", BLKIO, Switch, WithEngine, "Write zeroes for trims"),
    engine_row("libblkio_wait_mode", BLKIO, Word, WithEngine, "How completions are waited for"),
    engine_row("libblkio_force_enable_completion_eventfd", BLKIO, Switch, WithEngine, "Signal completions by eventfd"),
    engine_row("xnvme_async", XNVME, Text, WithEngine, "Asynchronous interface"),
    engine_row("xnvme_sync", XNVME, Text, WithEngine, "Synchronous interface"),
    engine_row("xnvme_admin", XNVME, Text, WithEngine, "Interface of admin commands"),
    engine_row("xnvme_be", XNVME, Text, WithEngine, "Backend"),
    engine_row("xnvme_mem", XNVME, Text, WithEngine, "Memory backend"),
    engine_row("xnvme_iovec", XNVME, Switch, WithEngine, "Vectored commands"),
    engine_row("xnvme_dev_nsid", XNVME, Number, WithEngine, "Namespace"),
    engine_row("xnvme_dev_subnqn", XNVME, Text, WithEngine, "Subsystem"),
    engine_row("cuda_io", &["libcufile"], Word, WithEngine, "How data reaches the GPU"),
    engine_row("gpu_dev_ids", &["libcufile", "libhipfile"], Text, WithEngine, "GPUs"),
    engine_row("rocm_io", &["libhipfile"], Word, WithEngine, "How data reaches the GPU"),
    engine_row("no_completion_thread", &["windowsaio"], Switch, WithEngine, "Reap completions inline"),
];

const fn refused(name: &'static str, help: &'static str, why: &'static str) -> EngineRow {
    EngineRow {
        name,
        help,
        carried: Carried::No(why),
    }
}

const fn not_run(name: &'static str, help: &'static str, why: &'static str) -> EngineRow {
    EngineRow {
        name,
        help,
        carried: Carried::NotRun(why),
    }
}

const fn built(name: &'static str, backend: Backend, help: &'static str) -> EngineRow {
    EngineRow {
        name,
        help,
        carried: Carried::By(backend),
    }
}

const fn operation(name: &'static str, operation: FileOperation, help: &'static str) -> EngineRow {
    EngineRow {
        name,
        help,
        carried: Carried::Operation(operation),
    }
}

/// Every I/O engine.
#[rustfmt::skip]
pub(super) const ENGINES: &[EngineRow] = &[
    built("sync", Backend::Sync, "One seek and one read or write at a time"),
    built("psync", Backend::Sync, "One pread or pwrite at a time"),
    built("vsync", Backend::Sync, "One readv or writev at a time"),
    built("pvsync", Backend::Sync, "One preadv or pwritev at a time"),
    built("pvsync2", Backend::Sync, "One preadv2 or pwritev2 at a time"),
    built("libaio", Backend::Libaio, "Linux native asynchronous I/O"),
    built("io_uring", Backend::IoUring, "Linux io_uring"),
    built("null", Backend::Null, "No I/O at all"),
    built("mmap", Backend::Mmap, "Memory copies to and from a mapped file"),
    built("posixaio", Backend::IoUring, "POSIX asynchronous I/O, here by io_uring"),
    built("nbd", Backend::Nbd, "Exports of NBD servers"),
    refused("solarisaio", "Solaris asynchronous I/O", "it exists on Solaris alone"),
    refused("windowsaio", "Windows asynchronous I/O", "it exists on Windows alone"),
    not_run("io_uring_cmd", "Pass-through commands over io_uring", "it needs an NVMe character device, and sends it raw commands"),
    not_run("splice", "Moves data through pipes", "pipes between files are no storage that can be measured apart"),
    not_run("sg", "SCSI generic", "it sends raw SCSI commands, past the file system and the write guard"),
    not_run("net", "Network transfer", "it measures networks, not storage"),
    not_run("netsplice", "Network transfer by splice", "it measures networks, not storage"),
    EngineRow { name: "cpuio", help: "Burns processors, and does no I/O", carried: Carried::Work },
    refused("rdma", "RDMA transfer", "it needs RDMA hardware and its library"),
    not_run("e4defrag", "ext4 block exchange", "it rearranges the blocks of ext4 files, which is no measurement of I/O"),
    operation("falloc", FileOperation::Allocate, "fallocate calls"),
    operation("ftruncate", FileOperation::Truncate, "ftruncate calls"),
    operation("filecreate", FileOperation::Create, "Creates files"),
    operation("filestat", FileOperation::Stat(StatCall::Stat), "Looks at files"),
    operation("filedelete", FileOperation::Delete, "Removes files"),
    operation("dircreate", FileOperation::CreateDirectory, "Creates directories"),
    operation("dirstat", FileOperation::StatDirectory(StatCall::Stat), "Looks at directories"),
    operation("dirdelete", FileOperation::DeleteDirectory, "Removes directories"),
    not_run("exec", "Runs a program", "it runs programs, and does no I/O"),
    refused("gfapi", "GlusterFS, synchronous", "it needs the GlusterFS client library"),
    refused("gfapi_async", "GlusterFS, asynchronous", "it needs the GlusterFS client library"),
    refused("libhdfs", "Hadoop file system", "it needs the Hadoop client library"),
    not_run("mtd", "Raw flash", "it needs a raw flash device"),
    refused("nfs", "NFS from user space", "it needs libnfs; mount the export and name a file there"),
    refused("libiscsi", "iSCSI from user space", "it needs libiscsi; log in with iscsiadm and name the device"),
    refused("rados", "Ceph objects", "it needs the Ceph client library"),
    refused("rbd", "Ceph block device", "it needs the Ceph client library; map the image with `rbd map` and name the device"),
    refused("http", "HTTP objects", "it needs an HTTP object store and libcurl"),
    refused("dfs", "DAOS file system", "it needs the DAOS client library"),
    refused("ime_psync", "DDN IME, synchronous", "it needs the DDN IME client library"),
    refused("ime_psyncv", "DDN IME, vectored", "it needs the DDN IME client library"),
    refused("ime_aio", "DDN IME, asynchronous", "it needs the DDN IME client library"),
    refused("pmemblk", "Persistent memory blocks", "it needs persistent memory and its library"),
    refused("dev-dax", "Persistent memory device", "it needs persistent memory and its library"),
    refused("libpmem", "Persistent memory files", "it needs persistent memory and its library"),
    refused("libzbc", "Zoned devices", "it needs a zoned device and libzbc"),
    refused("libblkio", "libblkio drivers", "it needs libblkio"),
    refused("libcufile", "GPUDirect storage", "it needs an NVIDIA GPU and its library"),
    refused("libhipfile", "AMD GPU storage", "it needs an AMD GPU and its library"),
    refused("xnvme", "xNVMe", "it needs an NVMe device and the xNVMe library"),
    not_run("page_fault", "Touches memory pages", "it measures memory, not storage"),
    not_run("cpp_null", "No I/O at all, from a shared object", "it is a shared object of fio's own; use ioengine=null"),
    refused("external", "An engine in a shared object", "shared objects of fio cannot be loaded here"),
];
