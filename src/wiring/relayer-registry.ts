import type { Logger } from 'pino'
import type { Db } from '../database/db.ts'
import { isRetryable } from '../database/errors.ts'
import type { Clock } from '../lib/time.ts'
import type { NetworkDirectory } from '../networks/directory.ts'
import { readNetworkChanges } from '../networks/manage.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { findRelayers, pagesOfRelayers } from '../relayers/store.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import { createLoop, type Loop } from '../workers/loop.ts'
import type { WatchTarget } from '../workers/watch-worker.ts'
import { endpointsKey, type RelayerRuntimes } from './relayer-runtime.ts'

/** The database notifies this channel whenever relayers, or the urls of networks, change. */
export const RELAYERS_CHANNEL = 'relayers_changed'

/**
 * The registry finds a change without a notification after this time, in ms. Each look reads all relayers.
 */
const BACKSTOP_MS = 60_000

/** Relayers that share endpoints. */
interface EndpointGroup {
  readonly runtime: RelayerRuntime
  readonly relayers: readonly Relayer[]
}

/**
 * The relayers that this process knows. It follows changes, because callers create and change relayers while
 * it runs.
 */
export interface RelayerRegistry {
  /** Reloads the relayers whenever it is woken. */
  readonly loop: Loop
  /** Returns the loop of each group of endpoints. Loops come and go with their group. */
  watchLoops(): readonly Loop[]
  /** Returns the groups by the name of their endpoints. */
  endpointGroups(): ReadonlyMap<string, EndpointGroup>
  /** Returns the runtimes of the relayers of these ids, without removed ones. */
  runtimesOf(ids: readonly string[]): Promise<ReadonlyMap<string, RelayerRuntime>>
  /**
   * Reloads the relayers. Returns a sentence for each relayer that cannot act; the registry leaves it out
   * until a later look finds it well.
   */
  look(): Promise<string[]>
}

interface RelayerRegistryDeps {
  readonly db: Db
  readonly networks: NetworkDirectory
  readonly runtimes: RelayerRuntimes
  readonly clock: Clock
  readonly log: Logger
  readonly createWatchLoop: (target: WatchTarget) => Loop
  /** Called with the ids of all relayers, and of those among them that cannot act here. */
  readonly onLook: (relayerIds: readonly string[], cannotAct: readonly string[]) => void
}

interface Watch {
  readonly chain: RelayerRuntime['chain']
  readonly loop: Loop
}

/** Creates the registry. It is empty until the first look. */
export function createRelayerRegistry(deps: RelayerRegistryDeps): RelayerRegistry {
  const { db, networks, runtimes, clock, log, createWatchLoop, onLook } = deps
  let endpointGroups: ReadonlyMap<string, EndpointGroup> = new Map()
  const watches = new Map<string, Watch>()
  let started = false

  let byId: ReadonlyMap<string, Relayer> = new Map()

  async function prepareAll(relayers: readonly Relayer[]): Promise<{ ready: Relayer[]; problems: string[] }> {
    const problems = await Promise.all(
      relayers.map((relayer) =>
        runtimes.prepare(relayer).then(
          () => undefined,
          (error: unknown) => {
            // A lost connection to the database says nothing about the relayer; the next look tries again.
            if (isRetryable(error)) throw error
            return `relayer "${relayer.id}" cannot act: ${error instanceof Error ? error.message : error}`
          },
        ),
      ),
    )
    return {
      ready: relayers.filter((_, index) => problems[index] === undefined),
      problems: problems.filter((problem) => problem !== undefined),
    }
  }

  async function look(): Promise<string[]> {
    networks.update(await readNetworkChanges(db))
    const ready: Relayer[] = []
    const ids: string[] = []
    const problems: string[] = []
    for await (const page of pagesOfRelayers(db)) {
      ids.push(...page.map(({ id }) => id))
      const prepared = await prepareAll(page)
      ready.push(...prepared.ready)
      problems.push(...prepared.problems)
    }
    runtimes.keep(ready)
    byId = new Map(ready.map((relayer) => [relayer.id, relayer]))
    onLook(
      ids,
      ids.filter((id) => !byId.has(id)),
    )
    endpointGroups = endpointGroupsOf(ready, runtimes)
    await reconcile()
    return problems
  }

  /** Gives each group a loop with its current chain. */
  async function reconcile(): Promise<void> {
    const ended = [...watches].filter(([key, { chain }]) => endpointGroups.get(key)?.runtime.chain !== chain)
    for (const [key] of ended) watches.delete(key)
    for (const [key, { runtime }] of endpointGroups) {
      if (watches.has(key)) continue
      const loop = createWatchLoop({ key, runtime, relayers: () => endpointGroups.get(key)?.relayers ?? [] })
      watches.set(key, { chain: runtime.chain, loop })
      if (started) loop.start()
    }
    await Promise.all(ended.map(([, { loop }]) => loop.stop()))
  }

  const loop = createLoop({
    name: 'registry',
    intervalMs: BACKSTOP_MS,
    clock,
    log,
    work: async () => {
      for (const problem of await look()) log.error({ problem }, 'relayer cannot act; retrying')
    },
  })

  return {
    look,
    endpointGroups: () => endpointGroups,
    watchLoops: () => [...watches.values()].map((watch) => watch.loop),
    runtimesOf: async (ids) => {
      const known = ids.flatMap((id) => byId.get(id) ?? [])
      // Another process may have created them a moment ago. Only they are read: a page of events can name
      // removed relayers for ever.
      const unknown = ids.filter((id) => !byId.has(id))
      const { ready } = await prepareAll(await findRelayers(db, unknown))
      return new Map([...known, ...ready].map((relayer) => [relayer.id, runtimes.runtimeOf(relayer)]))
    },
    loop: {
      ...loop,
      start: async () => {
        started = true
        await Promise.all([...watches.values()].map((watch) => watch.loop.start()).concat(loop.start()))
      },
      stop: async () => {
        await loop.stop()
        await Promise.all([...watches.values()].map((watch) => watch.loop.stop()))
      },
    },
  }
}

function endpointGroupsOf(
  relayers: readonly Relayer[],
  { runtimeOf }: RelayerRuntimes,
): Map<string, EndpointGroup> {
  const groups = Map.groupBy(relayers, endpointsKey)
  return new Map(
    [...groups].flatMap(([key, members]) => {
      const [first] = members
      return first === undefined ? [] : [[key, { runtime: runtimeOf(first), relayers: members }] as const]
    }),
  )
}
