import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { findBinaries, processesOf, query, sharedMemoryOf, signalAll, unprivilegedUser } from './postgres.ts'
import { until } from './until.ts'

/** The shortest time in s that Patroni allows until a silent primary loses its lock. Its default is 30. */
const TTL_SECONDS = 20

/** Time in ms in which a cluster comes to rest, or promotes a member. */
const DEADLINE_MS = 90_000

/** Characters of the log of a Patroni that explain why it did not. */
const LOG_TAIL = 4_000

/** A member of the cluster: a Patroni with its PostgreSQL. */
export interface Member {
  readonly name: string
  /** Host and port of its PostgreSQL. */
  readonly host: string
  /** Runs a statement on its PostgreSQL. */
  query<Row extends object>(statement: string): Promise<readonly Row[]>
  /** Starts Patroni, which starts PostgreSQL if it does not run. */
  start(): void
  /** Kills Patroni with SIGKILL. PostgreSQL lives on. */
  killPatroni(): Promise<void>
  /** Kills Patroni and every process of PostgreSQL with SIGKILL. */
  killAll(): Promise<void>
  /** Stops all of their processes with SIGSTOP. */
  freeze(): Promise<void>
  /** Continues them. */
  thaw(): Promise<void>
}

/** A cluster of Patroni on an etcd of three members, with a synchronous standby. */
export interface PatroniCluster {
  readonly members: readonly Member[]
  /** The url of all members for the service. */
  readonly databaseUrl: string
  /**
   * Waits until this member, or any, is the primary, and the others are standbys of which one may be promoted;
   * returns the primary. What was so before the call does not count: when etcd is back, the primary has no
   * synchronous standby for a round.
   */
  settled(primary?: Member): Promise<Member>
  /** Waits until another member than this one is the primary. It need not have a standby yet. */
  promoted(old: Member): Promise<Member>
  /** Hands the primary over to another member, with `patronictl switchover`. */
  switchover(from: Member, to: Member): Promise<void>
  readonly etcd: {
    /** Stops every member with SIGSTOP, and continues them. */
    freeze(): void
    thaw(): void
    /** Kills the leader with SIGKILL, and waits until the other members have another one. */
    killLeader(): Promise<void>
  }
  stop(): Promise<void>
}

/** Returns true if the programs are here. Debian has them in its packages `patroni` and `etcd-server`. */
export function hasPatroni(): boolean {
  try {
    for (const program of ['patroni', 'patronictl', 'etcd'])
      execFileSync('which', [program], { stdio: 'ignore' })
    return findBinaries() !== undefined
  } catch {
    return false
  }
}

/** Starts etcd and members, and waits until all of them stream from the primary. */
export async function startPatroni(count: number): Promise<PatroniCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'relayer-patroni-'))
  const user = unprivilegedUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const etcd = await startEtcd(folder)
  const members: OwnedMember[] = []
  for (let number = 1; number <= count; number += 1)
    members.push(await createMember({ folder, etcdUrls: etcd.urls, name: `db${number}` }))
  const kill = () => {
    for (const member of members) member.killNow()
    etcd.signal('SIGKILL')
  }
  process.once('exit', kill)
  const [first] = members
  if (first === undefined) throw new Error('A cluster needs a member.')
  const stop = async () => {
    process.off('exit', kill)
    for (const member of members) await member.killAll()
    etcd.signal('SIGCONT')
    etcd.signal('SIGKILL')
    await etcd.exited
    rmSync(folder, { recursive: true, force: true })
  }
  const look = async () =>
    new Map(
      await Promise.all(
        members.map(async (member) => [member, await member.look().catch(() => UNKNOWN)] as const),
      ),
    )
  /** Waits for a state of the cluster. A failure tells what the members wrote. */
  const untilSeen = async <Seen>(
    read: () => Promise<Seen>,
    wanted: (seen: Seen) => boolean,
  ): Promise<Seen> => {
    try {
      return await until(read, wanted, { timeoutMs: DEADLINE_MS })
    } catch (error) {
      const logs = members.map(({ name, log }) => `${name}:\n${log().slice(-LOG_TAIL)}`)
      throw new Error([error instanceof Error ? error.message : error, ...logs].join('\n'), { cause: error })
    }
  }
  const primaryOf = (now: ReadonlyMap<OwnedMember, State>) =>
    members.filter((member) => now.get(member)?.role === 'primary')
  const settled = async (wanted?: Member): Promise<Member> => {
    const begun = Date.now() / 1000
    const rounds = new Map(members.map((member) => [member, new Set<number>()]))
    const seen = await untilSeen(
      async () => ({ now: await look(), standby: await etcd.synchronousStandby() }),
      ({ now, standby }) => {
        for (const [member, { lastSeen }] of now) if (lastSeen > begun) rounds.get(member)?.add(lastSeen)
        const primaries = primaryOf(now)
        const [primary] = primaries
        if (primaries.length !== 1 || (wanted !== undefined && primary !== wanted)) return false
        return members.every(
          (member) =>
            // The second round begins when the first one has ended.
            (rounds.get(member)?.size ?? 0) >= 2 &&
            (member === primary || now.get(member)?.role === 'replica') &&
            standby !== primary?.name &&
            members.some(({ name }) => name === standby),
        )
      },
    )
    return primaryOf(seen.now)[0] ?? first
  }
  try {
    // The first one makes the database, and the others copy it.
    first.start()
    await untilSeen(look, (now) => now.get(first)?.role === 'primary')
    for (const other of members.slice(1)) other.start()
    await settled(first)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    members,
    databaseUrl: `postgres://postgres@${members.map(({ host }) => host).join(',')}/postgres?target_session_attrs=read-write`,
    settled,
    promoted: async (old) => {
      const now = await untilSeen(look, (all) => primaryOf(all).some((member) => member !== old))
      return primaryOf(now).find((member) => member !== old) ?? first
    },
    switchover: async (from, to) => {
      const args = [
        '-c',
        first.configFile,
        'switchover',
        '--master',
        from.name,
        '--candidate',
        to.name,
        '--force',
      ]
      await promisify(execFile)('patronictl', args)
    },
    etcd: {
      freeze: () => etcd.signal('SIGSTOP'),
      thaw: () => etcd.signal('SIGCONT'),
      killLeader: etcd.killLeader,
    },
    stop,
  }
}

/** The name of the cluster: its keys in etcd begin with it. */
const SCOPE = 'relayer'

/** With three members, etcd outlives the loss of one; with two, it does not. */
const ETCD_MEMBERS = ['one', 'two', 'three'] as const

interface EtcdMember {
  readonly name: string
  readonly url: string
  readonly peerUrl: string
}

async function startEtcd(folder: string) {
  const members: EtcdMember[] = []
  for (const name of ETCD_MEMBERS) {
    const [url, peerUrl] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`)
    members.push({ name, url: `${url}`, peerUrl: `${peerUrl}` })
  }
  const cluster = members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',')
  const running = members.map((member) => {
    const { name, url, peerUrl } = member
    const child = spawn(
      'etcd',
      [
        ...[
          '--name',
          name,
          '--data-dir',
          join(folder, `etcd-${name}`),
          '--logger',
          'zap',
          '--log-outputs',
          'stderr',
        ],
        ...['--listen-client-urls', url, '--advertise-client-urls', url],
        ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ...['--initial-cluster', cluster],
      ],
      { stdio: 'ignore' },
    )
    return { ...member, child, exited: once(child, 'exit') }
  })
  await until(
    () => leaderOf(members),
    (leader) => leader !== undefined,
  )
  return {
    urls: members.map(({ url }) => url),
    signal: (signal: NodeJS.Signals) => {
      for (const { child } of running) child.kill(signal)
    },
    killLeader: async () => {
      const leader = await leaderOf(members)
      const dead = running.find((member) => member.url === leader?.url)
      if (dead === undefined) throw new Error('etcd has no leader')
      dead.child.kill('SIGKILL')
      await dead.exited
      await until(
        () => leaderOf(members.filter((member) => member.url !== dead.url)),
        (next) => next !== undefined,
      )
    },
    /** Reads which member etcd lets be promoted; undefined if none. */
    synchronousStandby: async (): Promise<string | undefined> => {
      const leader = await leaderOf(members)
      if (leader === undefined) return undefined
      const key = Buffer.from(`/service/${SCOPE}/sync`).toString('base64')
      const answer = await fetch(`${leader.url}/v3/kv/range`, {
        method: 'POST',
        body: JSON.stringify({ key }),
      })
      const { kvs } = (await answer.json()) as { kvs?: readonly { value: string }[] }
      const stored = Buffer.from(kvs?.[0]?.value ?? '', 'base64').toString()
      if (stored === '') return undefined
      const { sync_standby } = JSON.parse(stored) as { sync_standby?: string | null }
      return sync_standby ?? undefined
    },
    exited: Promise.all(running.map(({ exited }) => exited)),
  }
}

/** Asks the members which of them leads; undefined while none does. */
async function leaderOf(members: readonly EtcdMember[]): Promise<EtcdMember | undefined> {
  const leads = await Promise.all(
    members.map(({ url }) =>
      fetch(`${url}/v3/maintenance/status`, { method: 'POST', body: '{}' })
        .then((answer) => answer.json() as Promise<{ leader?: string; header: { member_id: string } }>)
        .then(({ leader, header }) => leader === header.member_id)
        .catch(() => false),
    ),
  )
  return members[leads.indexOf(true)]
}

/** What a Patroni tells of itself. */
interface State {
  /** `primary`, `replica`, or something else. */
  readonly role: string
  /** When it last read etcd, in whole s since 1970. It does so at the beginning of each round. */
  readonly lastSeen: number
}

const UNKNOWN: State = { role: 'unknown', lastSeen: 0 }

interface OwnedMember extends Member {
  readonly configFile: string
  /** What its Patroni and its PostgreSQL have written. */
  log(): string
  /** Asks its Patroni. */
  look(): Promise<State>
  /** Kills it at the exit of this process. */
  killNow(): void
}

interface MemberOptions {
  readonly folder: string
  readonly etcdUrls: readonly string[]
  readonly name: string
}

async function createMember({ folder, etcdUrls, name }: MemberOptions): Promise<OwnedMember> {
  const user = unprivilegedUser()
  const [port, restPort] = [await freePort(), await freePort()]
  const host = `127.0.0.1:${port}`
  const data = join(folder, name)
  const configFile = join(folder, `${name}.json`)
  const logFile = join(folder, `${name}.log`)
  writeFileSync(logFile, '')
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify(configOf({ folder, etcdUrls, name, data, port, restPort })))
  let patroni: ChildProcess | undefined
  const postmaster = () => {
    const file = join(data, 'postmaster.pid')
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
  }
  const ofPostgres = async () => {
    const pid = postmaster()
    return pid === undefined ? [] : processesOf({ pid })
  }
  const killPatroni = async () => {
    if (patroni === undefined) return
    const exited = once(patroni, 'exit')
    patroni.kill('SIGCONT')
    patroni.kill('SIGKILL')
    patroni = undefined
    await exited
  }
  return {
    name,
    host,
    configFile,
    query: (statement) => query(`postgres://postgres@${host}/postgres`, statement),
    log: () => readFileSync(logFile, 'utf8'),
    look: async () => {
      const answer = await fetch(`http://127.0.0.1:${restPort}/patroni`, {
        signal: AbortSignal.timeout(2_000),
      })
      const { role, state, dcs_last_seen } = (await answer.json()) as Record<string, unknown>
      const lastSeen = Number(dcs_last_seen)
      if (state !== 'running') return { role: String(state), lastSeen }
      return { role: role === 'master' || role === 'primary' ? 'primary' : 'replica', lastSeen }
    },
    start: () => {
      const output = openSync(logFile, 'a')
      patroni = spawn('patroni', [configFile], { cwd: folder, stdio: ['ignore', output, output], ...user })
      closeSync(output)
    },
    killPatroni,
    killAll: async () => {
      await killPatroni()
      const pids = await ofPostgres()
      if (pids.length === 0) return
      const segment = sharedMemoryOf(data)
      signalAll(pids, 'SIGKILL')
      await until(
        async () => pids.some((pid) => existsSync(`/proc/${pid}`)),
        (lives) => !lives,
      )
      if (segment !== undefined) await promisify(execFile)('ipcrm', ['-m', segment]).catch(() => {})
    },
    freeze: async () => {
      patroni?.kill('SIGSTOP')
      signalAll(await ofPostgres(), 'SIGSTOP')
    },
    thaw: async () => {
      signalAll(await ofPostgres(), 'SIGCONT')
      patroni?.kill('SIGCONT')
    },
    killNow: () => {
      patroni?.kill('SIGKILL')
      const pid = postmaster()
      if (pid !== undefined) signalAll([pid], 'SIGQUIT')
    },
  }
}

function configOf({
  folder,
  etcdUrls,
  name,
  data,
  port,
  restPort,
}: MemberOptions & { readonly data: string; readonly port: number; readonly restPort: number }) {
  return {
    scope: SCOPE,
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { hosts: etcdUrls.map((url) => new URL(url).host) },
    bootstrap: {
      dcs: {
        ttl: TTL_SECONDS,
        loop_wait: 2,
        retry_timeout: 5,
        synchronous_mode: true,
        failsafe_mode: true,
        postgresql: { use_pg_rewind: true },
      },
      initdb: [{ encoding: 'UTF8' }, 'no-sync', { auth: 'trust' }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: findBinaries(),
      // A former primary whose WAL cannot be rewound is made anew, in place of waiting for a person.
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
      pgpass: join(folder, `${name}.pgpass`),
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'postgres' },
        rewind: { username: 'postgres' },
      },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
      parameters: {
        unix_socket_directories: folder,
        fsync: 'off',
        dynamic_shared_memory_type: 'mmap',
      },
    },
  }
}
