import { randomInt } from 'node:crypto'
import pg from 'pg'
import type { Logger } from '../../../log.ts'
import { isRetryable } from '../../errors.ts'
import { readPostgresUrl } from './postgres-url.ts'
import { lookAt, newestWriter, type ServerView, TIMELINE, type Waits } from './server-view.ts'
import { watchSilence } from './silent-servers.ts'

/** The longest time in ms for the only server to take a connection. */
const ONLY_ONE_MS = 10_000

/**
 * The same for one of several servers. A host that is off answers nothing, and another one may be waiting.
 */
const ONE_OF_SEVERAL_MS = 3_000

/**
 * The classes of SQLSTATE with which a server refuses user, password or database. Another server would say
 * the same.
 */
const REFUSALS = ['28', '3D']

/**
 * The time in ms for which a start waits for the other servers after the first one that accepts writes. An
 * old primary answers sooner.
 */
const FOR_THE_OTHERS_MS = 500

/**
 * An answer that took longer is believed only after a look at the other servers, in ms: a commit may have
 * waited for a standby that was promoted meanwhile. With less, a busy server is looked at all the time; with
 * more, a shorter wait goes unseen.
 */
const SLOW_MS = 250

/** The function of the server that warns when a commit ends without its standby (syncrep.c). */
const SYNC_WAIT = 'SyncRepWaitForLSN'

/**
 * Writes nothing but a line of the log, whose commit waits for the standby: it has all commits before it then.
 * A transaction without a line would not wait.
 */
const COMMIT_NOTHING = "select pg_logical_emit_message(true, 'relayer', '')"

/** SQLSTATE of a function that does not exist: the database is not migrated yet. */
const UNDEFINED_FUNCTION = '42883'

/** No server of the url can be used now. */
class NoServerError extends Error {
  override readonly name = 'NoServerError'
  /** sqlclient_unable_to_establish_sqlconnection (SQL:2016, class 08); absent if waiting does not help. */
  readonly code: '08001' | undefined

  constructor(failures: ReadonlyMap<string, unknown>) {
    const reasons = [...failures].map(([name, error]) => `${name}: ${reasonOf(error)}`)
    super(`no server of the url can be used: ${reasons.join('; ')}`)
    this.code = [...failures.values()].some(isRetryable) ? '08001' : undefined
  }
}

/** The server answers, and does not have the wanted property. A fail-over may change that. */
class WrongServerError extends Error {
  override readonly name = 'WrongServerError'
  readonly code = '08004' // sqlserver_rejected_establishment_of_sqlconnection
}

/** The statement was carried out on a server that was not the primary any more, so it is lost. */
class OldPrimaryError extends Error {
  override readonly name = 'OldPrimaryError'
  readonly code = '08007' // transaction_resolution_unknown
}

/** The servers of one url. */
export interface Servers {
  /** A client of the server that is next. `connect` fails for a server without the wanted property. */
  readonly Client: typeof pg.Client
  /**
   * Call it when a commit of this client, or a write on its own, has ended after `tookMs`. A primary whose
   * standby was promoted ends the commits that waited for it when it is told to wait for none, as Patroni
   * does at its start: rejects then. A commit whose wait was canceled, as by `statement_timeout`, waits again.
   */
  assertKept(client: pg.ClientBase, tookMs: number): Promise<void>
  /** Calls `connect`, which connects a new client, until one server can be used or all were tried. */
  use<T>(connect: () => Promise<T>): Promise<T>
  /**
   * Looks at all servers, so that the first connection leads to the newest primary. Does nothing for one
   * server.
   */
  findNewest(): Promise<void>
  /** Host and port of the server that is next. */
  current(): string
  /**
   * Returns what held up statements of this process at the last look, some seconds ago; undefined if nothing
   * did.
   */
  blockedBy(): keyof Waits | undefined
  /** Ends all connections at once. Their statements fail. */
  destroy(): void
}

/**
 * Chooses among the servers of a url. A new connection begins with the server that was last used, not with
 * the first one, and so does not wait for a dead one each time. Of several that accept writes, only one with
 * the newest timeline that was ever seen is used: the others were primaries before a promotion, and what they
 * commit is lost.
 * @throws PostgresUrlError
 */
export function chooseServers(url: string, { log }: { readonly log: Logger }): Servers {
  const { servers, target, isRandom, connectTimeoutMs } = readPostgresUrl(url)
  const timeoutMs = connectTimeoutMs ?? (servers.length > 1 ? ONE_OF_SEVERAL_MS : ONLY_ONE_MS)
  const compares = servers.length > 1 && target !== 'any'
  const silence = watchSilence({ inspect, looksAround: compares })
  const failures = new Map<string, unknown>()
  let next = isRandom ? randomInt(servers.length) : 0
  /** The timeline of the last server. */
  let timeline: string | undefined
  /** The newest timeline that a look or a connection has seen on a server that accepts writes. */
  let newest = ''
  let blockedBy: keyof Waits | undefined
  /** Looks that a slow answer has caused, by server. Quick answers wait for them. */
  const doubts = new Map<number, Promise<boolean | undefined>>()

  const nameOf = (index: number) => servers[index]?.name ?? ''
  const lookAtServer = (index: number, processIds: readonly number[] = []) =>
    lookAt({ url: servers[index]?.url ?? '', timeoutMs, processIds })

  /**
   * Finds the newest server that accepts writes, and notes its timeline: a connection to an older one that is
   * being made meanwhile is refused.
   */
  function findWriter(views: readonly ServerView[], preferred: number): number | undefined {
    const best = newestWriter(views, preferred)
    const view = best === undefined ? undefined : views[best]
    if (view?.kind === 'seen') newest = later(newest, view.timeline)
    return best
  }

  /**
   * Leaves a server that is silent, or that is not the newest one that accepts writes. Returns true for the
   * latter, and undefined if the server does not say.
   */
  async function inspect(index: number, clients: readonly pg.Client[]): Promise<boolean | undefined> {
    const processIds = clients.flatMap((client) => (client as Greeted).processID ?? [])
    const views = await Promise.all(
      servers.map((_, other) => {
        if (other === index) return lookAtServer(index, processIds)
        return compares ? lookAtServer(other) : ({ kind: 'answers' } as const)
      }),
    )
    const view = views[index]
    blockedBy = blockerOf(view)
    const best = findWriter(views, index)
    const isOld = view?.kind === 'seen' ? isOlder(view, views[best ?? index]) : undefined
    if (view?.kind === 'silent') {
      next = best ?? next
      silence.destroy('the server is silent', index)
    } else if (best !== undefined && isOld === true) {
      log.warn({ from: nameOf(index), to: nameOf(best) }, 'database has a newer primary; leaving the old one')
      next = best
      blockedBy = undefined
      silence.destroy('another server is the primary', index)
    }
    return isOld
  }

  /** An old primary that ends its waiting commits carries out others at once, until it is stopped. */
  function lookInDoubt(index: number): Promise<boolean | undefined> {
    const look = silence.look(index).finally(() => {
      if (doubts.get(index) === look) doubts.delete(index)
    })
    doubts.set(index, look)
    return look
  }

  class Client extends pg.Client {
    readonly index: number
    /** The timeline of the server when it was connected; empty for one that does not tell it. */
    timeline = ''
    /** A commit has ended without its standby. */
    isUnreplicated = false

    constructor(settings: pg.ClientConfig = {}) {
      super({ ...settings, connectionString: servers[next]?.url, connectionTimeoutMillis: timeoutMs })
      this.index = next
      // Without a listener a lost connection would end the process. Its user gets the error from the query.
      this.on('error', () => {})
      this.on('notice', ({ routine }) => {
        this.isUnreplicated ||= routine === SYNC_WAIT
      })
    }

    override connect(): Promise<this>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): Promise<this> | undefined {
      const connected = this.connectToWanted()
      if (callback === undefined) return connected
      const done = callback as (error?: Error) => void
      connected.then(() => done(), done)
      return undefined
    }

    private async connectToWanted(): Promise<this> {
      try {
        await super.connect()
        silence.add(this, this.index)
        await this.assertWanted()
        await this.followTimeline()
        await this.switchOffJit()
        failures.delete(this.serverName)
        if (isRandom) next = randomInt(servers.length)
        return this
      } catch (error) {
        failures.set(this.serverName, error)
        if (next === this.index) next = (next + 1) % servers.length
        // Errors of the end say nothing more about the server.
        super.end().catch(() => {})
        throw error
      }
    }

    get serverName(): string {
      return nameOf(this.index)
    }

    /**
     * A standby that was promoted, or a server that was recovered to an earlier time, has a new timeline in
     * its log, and may not have the last commits. Before this connection writes anything there, the event
     * numbers used before are skipped.
     */
    private async followTimeline(): Promise<void> {
      const present = await this.readTimeline()
      if (present === undefined) return
      if (compares && present < newest)
        throw new WrongServerError(`is an old primary: its timeline is ${present}, and ${newest} was seen`)
      newest = later(newest, present)
      this.timeline = present
      if (present === timeline) return
      if (timeline !== undefined)
        await this.query('select skip_issued_event_numbers()').catch((error: { code?: unknown }) => {
          if (error.code !== UNDEFINED_FUNCTION) throw error
        })
      timeline = present
    }

    /**
     * With millions of rows, the planner expects some short statements to cost so much that it compiles them,
     * which takes a hundred times as long as to run them. Behind a pooler the setting may go to another
     * connection, which harms nothing.
     */
    private async switchOffJit(): Promise<void> {
      try {
        await this.query('set jit = off')
      } catch (error) {
        // Relatives of PostgreSQL do not know the setting.
        if (isRetryable(error)) throw error
      }
    }

    /**
     * The timeline is the beginning of the name of the log file; undefined for a standby, and for a database
     * without such names.
     */
    private async readTimeline(): Promise<string | undefined> {
      try {
        const { rows } = await this.query<[string]>({ text: `select ${TIMELINE}`, rowMode: 'array' })
        return rows[0]?.[0]
      } catch (error) {
        if (isRetryable(error)) throw error
        return undefined
      }
    }

    private async assertWanted(): Promise<void> {
      if (target === 'any') return
      const question = target === 'primary' ? 'select pg_is_in_recovery()' : 'show transaction_read_only'
      const { rows } = await this.query<[boolean | 'on' | 'off']>({ text: question, rowMode: 'array' })
      if (rows[0]?.[0] === true || rows[0]?.[0] === 'on')
        throw new WrongServerError(target === 'primary' ? 'is a standby' : 'takes no writes')
    }
  }

  return {
    Client,
    current: () => nameOf(next),
    blockedBy: () => blockedBy,
    destroy: () => silence.destroy('the database is closed'),
    async assertKept(client, tookMs) {
      if (!(client instanceof Client)) return
      while (client.isUnreplicated) {
        client.isUnreplicated = false
        await client.query(COMMIT_NOTHING)
      }
      const doubt = tookMs >= SLOW_MS && compares ? lookInDoubt(client.index) : doubts.get(client.index)
      if (doubt === undefined) return
      // Behind a pooler the server of a connection may be another one by now, which the look has seen.
      if ((await doubt) ?? (client.timeline !== '' && client.timeline < newest))
        throw new OldPrimaryError(`${client.serverName} is an old primary`)
    },
    async findNewest() {
      if (!compares) return
      const views = await lookAtAll(servers.map((_, index) => lookAtServer(index)))
      next = findWriter(views, next) ?? next
    },
    async use(connect) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await connect()
        } catch (error) {
          if (servers.length === 1 || isBusy(error) || isRefusal(error)) throw error
          if (tries >= servers.length) throw failures.size > 1 ? new NoServerError(failures) : error
        }
      }
    },
  }
}

/** Names of timelines have eight digits, so their order is that of the timelines. */
function later(one: string, other = ''): string {
  return one > other ? one : other
}

/**
 * The part of a connection that the types of node-postgres omit: the id that the server told at the start
 * (client.js).
 */
type Greeted = pg.Client & { readonly processID?: number }

function blockerOf(view: ServerView | undefined): keyof Waits | undefined {
  if (view?.kind !== 'seen') return undefined
  if (view.waits.standby > 0) return 'standby'
  return view.waits.lock > 0 ? 'lock' : undefined
}

/**
 * Returns true for a server that is not the primary any more, or never was. A server that only refuses or is
 * silent may still be.
 */
function isOlder(view: ServerView, best: ServerView | undefined): boolean {
  if (view.kind !== 'seen' || best?.kind !== 'seen') return false
  return !view.takesWrites || (view.timeline ?? '') < (best.timeline ?? '')
}

/**
 * Waits for all looks, and after the first server that accepts writes only for a moment: one that is off
 * answers nothing.
 */
async function lookAtAll(looks: readonly Promise<ServerView>[]): Promise<ServerView[]> {
  const views: ServerView[] = looks.map(() => ({ kind: 'silent' }))
  const late = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  const all = Promise.all(
    looks.map(async (look, index) => {
      const view = await look
      views[index] = view
      if (view.kind === 'seen' && view.takesWrites) timer ??= setTimeout(late.resolve, FOR_THE_OTHERS_MS)
    }),
  )
  await Promise.race([all, late.promise])
  clearTimeout(timer)
  return views
}

/**
 * Every connection of the pool was in use for too long: that says nothing about the servers (pg-pool,
 * index.js).
 */
function isBusy(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

function isRefusal(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && REFUSALS.some((start) => code.length === 5 && code.startsWith(start))
}

function reasonOf(error: unknown): string {
  // Node joins the errors of several addresses of one host, without a message.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}
