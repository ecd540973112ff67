# Prints what this box is, one `name=value` a line. POSIX sh: dash, bash and busybox agree on what they share.
# A name that begins with `~` is shown but never hashed. Values are one line of plain characters.
# Usage: sh -c "$(cat facts.sh)" facts FOLDER      FOLDER: a writable folder on the workspace's file system

folder=${1:-.}

fact() {
    value=${2%%"
"*}
    case $value in
    *[!A-Za-z0-9\ ._:/@+=,\;\(\)\<\>-]*)
        value=$(printf '%s' "$value" | LC_ALL=C tr -c 'A-Za-z0-9 ._:/@+=,;()<>-' '_') ;;
    esac
    printf '%s=%s\n' "$1" "${value:-none}"
}
first_line() { line=; [ -r "$1" ] && IFS= read -r line <"$1" 2>/dev/null; printf '%s' "$line"; }
have() { command -v "$1" >/dev/null 2>&1; }
digest() {
    if have sha256sum; then sha256sum | cut -c1-16
    elif have shasum; then shasum -a 256 | cut -c1-16
    else cksum | tr ' ' '-'; fi
}

# Tools take nearly all of the time, so each answers in the background while the rest is looked at. What they print is
# one short line, and such a write to a pipe is never torn.
tool_version() {
    case $1 in
    sh) readlink -f "$(command -v sh)" ;;
    go) go version ;;
    java) java -version 2>&1 ;;
    perl) perl -e 'print $^V' ;;
    npm | timeout | setsid | unshare) echo present ;;
    *) "$1" --version 2>&1 ;;
    esac </dev/null 2>/dev/null
}
for tool in sh bash git python3 python node npm gcc cc make go rustc java ruby perl curl tar timeout setsid unshare; do
    if have "$tool"; then (fact "tool.$tool" "$(tool_version "$tool")") & else fact "tool.$tool" absent; fi
done
have python3 && (fact tool.python3_path "$(python3 -I -S -c 'import sys; print(sys.executable)' 2>/dev/null)") &

# System
os_id= os_version=
if [ -r /etc/os-release ]; then release=/etc/os-release; else release=/usr/lib/os-release; fi
if [ -r $release ]; then
    while IFS='=' read -r key value; do
        value=${value#\"} value=${value%\"}
        case $key in ID) os_id=$value ;; VERSION_ID) os_version=$value ;; esac
    done <$release
fi
fact os.id "$os_id"
fact os.version "$os_version"
fact os.debian_version "$(first_line /etc/debian_version)"
libc=
for file in /lib/ld-musl-*.so.1; do [ -e "$file" ] && libc=musl; done
[ -z "$libc" ] && have getconf && libc=$(getconf GNU_LIBC_VERSION 2>/dev/null)
fact os.libc "$libc"
fact kernel.name "$(uname -s)"
fact kernel.release "$(uname -r)"
fact kernel.arch "$(uname -m)"

# Processor and memory
model= flags= present=0
if [ -r /proc/cpuinfo ]; then
    while IFS=: read -r key value; do
        case $key in
        processor*) present=$((present + 1)) ;;
        "model name"* | "CPU part"*) model=${model:-${value# }} ;;
        flags* | Features*) flags=${flags:-$value} ;;
        esac
    done </proc/cpuinfo
fi
fact cpu.model "$model"
fact cpu.present "$present"
have nproc && fact cpu.usable "$(nproc)"
fact cpu.flags "$(printf '%s' "$flags" | digest)"
if [ -r /proc/meminfo ]; then
    while read -r key value unit; do
        case $key in
        MemTotal:) fact mem.total_mb "$(((value + 32768) / 65536 * 64))" ;;
        SwapTotal:) fact mem.swap_mb "$((value / 1024))" ;;
        MemAvailable:) fact '~mem.available_mb' "$((value / 1024))" ;;
        esac
    done </proc/meminfo
fi
fact mem.overcommit "$(first_line /proc/sys/vm/overcommit_memory)"

# Limits: of cgroups the tightest on the way up, of the shell soft:hard
version=none
[ -d /sys/fs/cgroup/memory ] && version=1
[ -e /sys/fs/cgroup/cgroup.controllers ] && version=2
fact limit.cgroup_version "$version"
memory=max cpu=max pids=max
tighter() { case $2 in '' | max) echo "$1" ;; *) if [ "$1" = max ] || [ "$2" -lt "$1" ]; then echo "$2"; else echo "$1"; fi ;; esac; }
if [ "$version" = 1 ]; then
    memory=$(tighter max "$(first_line /sys/fs/cgroup/memory/memory.limit_in_bytes)")
    pids=$(tighter max "$(first_line /sys/fs/cgroup/pids/pids.max)")
    quota=$(first_line /sys/fs/cgroup/cpu/cpu.cfs_quota_us)
    case $quota in '' | -1) ;; *) cpu="$quota $(first_line /sys/fs/cgroup/cpu/cpu.cfs_period_us)" ;; esac
elif [ "$version" = 2 ]; then
    group=
    while IFS=: read -r number _ path; do [ "$number" = 0 ] && group=${path%/}; done </proc/self/cgroup
    while :; do
        at=/sys/fs/cgroup$group
        memory=$(tighter "$memory" "$(first_line "$at/memory.max")")
        pids=$(tighter "$pids" "$(first_line "$at/pids.max")")
        quota=$(first_line "$at/cpu.max")
        case $quota in '' | max*) ;; *) [ "$cpu" = max ] && cpu=$quota ;; esac
        [ -n "$group" ] || break
        group=${group%/*}
    done
fi
fact limit.memory_max "$memory"
fact limit.cpu_max "$cpu"
fact limit.pids_max "$pids"
for letter in n u s f v c l; do
    hard=$(ulimit -H -$letter 2>/dev/null) && soft=$(ulimit -S -$letter 2>/dev/null) &&
        fact "limit.ulimit_$letter" "$soft:$hard"
done
fact limit.umask "$(umask)"

# Language and time
fact locale.lang "${LANG-unset}"
fact locale.lc_all "${LC_ALL-unset}"
have locale && fact locale.charmap "$(locale charmap 2>/dev/null)"
fact time.tz_env "${TZ-unset}"
fact time.zone "$(date +%Z%z)"
fact '~time.epoch' "$(date +%s)"

# User and what the kernel lets it do
fact user.uid "$(id -u)"
if [ -w "${HOME:-/nonexistent}" ]; then fact user.home_writable yes; else fact user.home_writable no; fi
if [ -r /proc/self/status ]; then
    while read -r key value; do
        case $key in
        CapEff:) fact sec.cap_eff "$value" ;;
        Seccomp:) fact sec.seccomp "$value" ;;
        NoNewPrivs:) fact sec.no_new_privs "$value" ;;
        esac
    done </proc/self/status
fi
fact sec.lsm "$(first_line /sys/kernel/security/lsm)"
fact sec.aslr "$(first_line /proc/sys/kernel/randomize_va_space)"
fact sec.ptrace_scope "$(first_line /proc/sys/kernel/yama/ptrace_scope)"

# Box and network. Marker files can lie about the container's kind: they are what a program inside would see too.
container=none
[ -e /.dockerenv ] && container=docker
[ -e /run/.containerenv ] && container=podman
[ -n "${KUBERNETES_SERVICE_HOST-}" ] && container=kubernetes
fact box.container "$container"
route=no
if [ -r /proc/net/route ]; then
    while read -r _ destination _; do [ "$destination" = 00000000 ] && route=yes; done </proc/net/route
fi
fact net.default_route "$route"
interfaces=
if [ -r /proc/net/dev ]; then
    while IFS=: read -r name rest; do [ -n "$rest" ] && interfaces="$interfaces,${name##* }"; done </proc/net/dev
fi
fact '~net.interfaces' "${interfaces#,}"
fact '~host.name' "$(uname -n)"
fact '~host.boot_id' "$(first_line /proc/sys/kernel/random/boot_id)"
fact '~host.loadavg' "$(first_line /proc/loadavg)"

# File system of the workspace
have stat && fact fs.type "$(stat -f -c %T "$folder" 2>/dev/null)"
trial=$folder/.facts$$
if (: >"$trial.a") 2>/dev/null; then
    fact fs.writable yes
    if [ -e "$trial.A" ]; then fact fs.case_sensitive no; else fact fs.case_sensitive yes; fi
    if ln -s x "$trial.l" 2>/dev/null; then fact fs.symlinks yes; else fact fs.symlinks no; fi
    printf '#!/bin/sh\nexit 7\n' >"$trial.x"
    chmod 755 "$trial.x"
    "$trial.x" 2>/dev/null
    if [ $? = 7 ]; then fact fs.exec yes; else fact fs.exec no; fi
    rm -f "$trial.a" "$trial.l" "$trial.x"
else
    fact fs.writable no
fi
free=$(df -Pk "$folder" 2>/dev/null | { read -r _; read -r _ _ _ available _; echo "${available:-0}"; })
fact '~fs.free_mb' "$((free / 1024))"

# Variables: PATH in full, of the others only the names
fact env.path "$PATH"
names=
for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p' | LC_ALL=C sort); do
    case $name in
    SHLVL | PWD | OLDPWD | _ | TZ | LANG | LC_* | TERM | COLUMNS | LINES | HOSTNAME | container) ;;
    *) names="$names,$name" ;;
    esac
done
fact env.names "${names#,}"
wait
