import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Answer } from '../chains/answer.ts'
import type { Chain } from '../chains/chain.ts'
import { FAMILIES } from '../chains/families.ts'
import type { RpcObserver } from '../chains/rpc/rpc.ts'
import type { Transport } from '../chains/rpc/transport.ts'
import { type Clock, withTimeout } from '../lib/time.ts'
import type { NetworkDirectory } from '../networks/directory.ts'
import { NETWORK_FAMILIES } from '../networks/families/families.ts'
import {
  hasUntrustedEndpoints,
  type Network,
  type NetworkOf,
  type NetworkType,
  type RpcUrl,
} from '../networks/network.ts'
import type { TokenDecimals } from '../networks/token-decimals-store.ts'
import { poolIdOf } from '../relayers/accounts/pool.ts'
import { type SourceAccounts, sourceAccountsOf } from '../relayers/accounts/source-accounts.ts'
import { sendsPrivately } from '../relayers/policies/policy.ts'
import { channelsOf, type Relayer } from '../relayers/relayer.ts'
import type { Keyring } from '../signers/keyring.ts'
import type { TransactionObserver } from '../transactions/model/observer.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'

interface RelayerRuntimesOptions {
  readonly networks: NetworkDirectory
  readonly keyring: Keyring
  /** The limit of one JSON-RPC call, in ms. */
  readonly rpcTimeoutMs: number
  readonly clock: Clock
  readonly log: Logger
  /** Returns the observer of the calls to a network. If absent, nothing observes them. */
  readonly rpcObserver?: ((network: string) => RpcObserver) | undefined
  /** Calls RPC URLs that API callers chose. If absent, they are not used. */
  readonly guarded?: Transport | undefined
  /** The decimals that tokens state. If absent, tokens are not asked. */
  readonly tokenDecimals?: TokenDecimals | undefined
}

/** The chains and keys of relayers. */
export interface RelayerRuntimes {
  /**
   * Loads what the relayer needs, once: keys, and the library of its chain.
   * @throws when a signer or a network that it names does not exist, a stored secret cannot be opened, or its
   * signer has another key than the one that the relayer was made with
   */
  prepare(relayer: Relayer): Promise<RelayerRuntime>
  /** Returns the runtime of a prepared relayer. Throws for any other, which is a fault of the service. */
  runtimeOf(relayer: Relayer): RelayerRuntime
  /**
   * Drops the keys of relayers that have been missing for an hour. Call it with the current relayers from
   * time to time.
   */
  keep(present: readonly Relayer[]): void
  /**
   * Checks which chain the network's URLs serve, for a few seconds at most. The result is unknown if none
   * answers by then.
   */
  verify(network: Network): Promise<Answer<void>>
}

/**
 * The keys of a removed relayer stay for this long, in ms: a request that read the relayer before can last as
 * long.
 */
const FORGET_AFTER_MS = 3_600_000

/** A caller waits for its endpoints for at most this long, in ms: silence is no reason to refuse them. */
const VERIFY_MS = 5_000

/** Names the endpoints that a relayer uses; relayers with the same key share them. */
export function endpointsKey(relayer: Relayer): string {
  const network = networkKey({ type: relayer.networkType, name: relayer.network })
  return relayer.customRpcUrls ? `${network}/${poolIdOf(relayer.id)}` : network
}

function networkKey({ type, name }: Pick<Network, 'type' | 'name'>): string {
  return `${NETWORK_FAMILIES[type].prefix}${name}`
}

interface ChainInUse {
  readonly network: Network
  /** The network before the relayer's own urls replaced its urls. */
  readonly base: Network
  readonly customRpcUrls: readonly RpcUrl[] | undefined
  readonly chain: Chain
}

type ChainMaker = (network: Network) => Chain

/** Creates the runtimes. Each network has one chain, and each relayer with custom RPC URLs has another. */
export function createRelayerRuntimes(options: RelayerRuntimesOptions): RelayerRuntimes {
  const { networks, keyring } = options
  const makers = new Map<NetworkType, ChainMaker>()
  const chains = new Map<string, ChainInUse>()
  const sourceAccounts = new Map<string, SourceAccounts>()
  /** The times at which relayers were first missing, in ms of the monotonic clock. */
  const goneSince = new Map<string, number>()

  async function load(type: NetworkType): Promise<ChainMaker> {
    const maker = makers.get(type) ?? (await loadMaker(type, options))
    makers.set(type, maker)
    return maker
  }

  async function verify(network: Network): Promise<Answer<void>> {
    const chain = (await load(network.type))(network)
    const answer = await withTimeout(options.clock, VERIFY_MS, chain.verify({ each: true }))
    return answer ?? { kind: 'unknown', detail: 'no endpoint answered in time' }
  }

  function chainOf(relayer: Relayer): ChainInUse {
    const base = networks.find(relayer.networkType, relayer.network)
    const make = makers.get(relayer.networkType)
    if (base === undefined || make === undefined) throw notPrepared(relayer)
    const { customRpcUrls } = relayer
    const key = endpointsKey(relayer)
    const known = chains.get(key)
    if (known?.base === base && isDeepStrictEqual(known.customRpcUrls, customRpcUrls)) return known
    const network = customRpcUrls ? { ...base, rpcUrls: customRpcUrls } : base
    const chain = customRpcUrls ? customChain(network, base, make) : withDecimals(base, make(base))
    const made = { network, base, customRpcUrls, chain }
    chains.set(key, made)
    return made
  }

  /** Decimals are kept for all relayers, so endpoints that API callers chose are not asked. */
  function customChain(network: Network, base: Network, make: ChainMaker): Chain {
    const own = make(network)
    if (!hasUntrustedEndpoints(network)) return withDecimals(base, own)
    const trustedChain = sharedChain(base, make)
    const { tokenDecimals } = trustedChain
    return { ...own, trustedChain, ...(tokenDecimals && { tokenDecimals }) }
  }

  function withDecimals(network: Network, chain: Chain): Chain {
    const { readTokenDecimals: read } = chain
    if (read === undefined || options.tokenDecimals === undefined) return chain
    const tokenDecimals = options.tokenDecimals.of(network, async (token) => {
      const answer = await read(token)
      return answer.kind === 'ok' ? answer.value : undefined
    })
    return { ...chain, tokenDecimals }
  }

  /** The chain with the urls of the network itself, which relayers without custom URLs use. */
  function sharedChain(base: Network, make: ChainMaker): Chain {
    const key = networkKey(base)
    const known = chains.get(key)
    if (known?.base === base) return known.chain
    const made = { network: base, base, customRpcUrls: undefined, chain: withDecimals(base, make(base)) }
    chains.set(key, made)
    return made.chain
  }

  /**
   * A signer of the same accounts can have taken over since the relayer was prepared; its predecessor signs
   * until the next check.
   */
  function accountsOfEarlierSigner(relayer: Relayer): SourceAccounts | undefined {
    const name = accountsKey(relayer)
    const key = [...sourceAccounts.keys()].find((known) => known.startsWith(name))
    return key === undefined ? undefined : sourceAccounts.get(key)
  }

  function runtimeOf(relayer: Relayer): RelayerRuntime {
    const own = sourceAccounts.get(sourceAccountsKey(relayer)) ?? accountsOfEarlierSigner(relayer)
    if (own === undefined) throw notPrepared(relayer)
    const { network, chain } = chainOf(relayer)
    return { network, chain, isPrivate: sendsPrivately(relayer), account: own[0], sourceAccounts: own }
  }

  function forget(key: string, now: number): void {
    const since = goneSince.get(key) ?? now
    goneSince.set(key, since)
    if (now - since < FORGET_AFTER_MS) return
    sourceAccounts.delete(key)
    goneSince.delete(key)
  }

  return {
    runtimeOf,
    verify,
    keep: (present) => {
      const wanted = new Set(present.map(sourceAccountsKey))
      for (const key of [...sourceAccounts.keys()]) {
        if (wanted.has(key)) goneSince.delete(key)
        else forget(key, options.clock.monotonic())
      }
    },
    prepare: async (relayer) => {
      const key = sourceAccountsKey(relayer)
      if (sourceAccounts.has(key)) return runtimeOf(relayer)
      if (networks.find(relayer.networkType, relayer.network) === undefined)
        throw new Error(`there is no network "${relayer.network}" of type ${relayer.networkType}`)
      await load(relayer.networkType)
      const own = await sourceAccountsOf(relayer, keyring.find)
      if (own[0].address !== relayer.address)
        throw new Error(
          `signer "${relayer.signerId}" has the key of ${own[0].address}, not of ${relayer.address}`,
        )
      sourceAccounts.set(key, own)
      return runtimeOf(relayer)
    },
  }
}

/** Names everything that the source accounts of a relayer depend on. */
function sourceAccountsKey(relayer: Relayer): string {
  return `${accountsKey(relayer)}${relayer.signerId}/${relayer.accountIndex ?? 0}`
}

/**
 * Names the source accounts of a relayer, independent of their signer. No name is the beginning of another
 * one.
 */
function accountsKey(relayer: Relayer): string {
  const { id, networkType, address } = relayer
  return JSON.stringify([id, networkType, address, channelsOf(relayer)])
}

/**
 * Loads the maker of chains of one type. Every network that it is given is of this type, because it was found
 * by it.
 */
async function loadMaker<T extends NetworkType>(
  type: T,
  { rpcTimeoutMs, clock, log, guarded, rpcObserver }: RelayerRuntimesOptions,
): Promise<ChainMaker> {
  const create = await FAMILIES[type].load()
  return (network) => {
    if (!isOfType(network, type)) throw new Error(`network ${network.name} is not of type ${type}`)
    return create({ network, rpcTimeoutMs, clock, log, guarded, observer: rpcObserver?.(network.name) })
  }
}

function isOfType<T extends NetworkType>(network: Network, type: T): network is NetworkOf<T> {
  return network.type === type
}

function notPrepared({ id }: Relayer): Error {
  return new Error(`relayer ${id} is used before it was prepared`)
}

type RpcObserverOf = (network: string) => RpcObserver

/** Joins the observers that exist, e.g. of metrics and of traces; undefined if there is none. */
export function joinTransactionObservers(
  ...observers: readonly (TransactionObserver | undefined)[]
): TransactionObserver | undefined {
  const present = observers.filter((one) => one !== undefined)
  if (present.length <= 1) return present[0]
  return {
    created: (transactions) => {
      for (const one of present) one.created(transactions)
    },
    submitted: (transactions) => {
      for (const one of present) one.submitted(transactions)
    },
    finished: (transactions) => {
      for (const one of present) one.finished(transactions)
    },
    paid: (payments) => {
      for (const one of present) one.paid(payments)
    },
  }
}

/** Joins the observers of RPC requests that exist. */
export function joinRpcObservers(
  ...observers: readonly (RpcObserverOf | undefined)[]
): RpcObserverOf | undefined {
  const present = observers.filter((one) => one !== undefined)
  if (present.length <= 1) return present[0]
  return (network) => {
    const ofNetwork = present.map((one) => one(network))
    return {
      asked: (request) => {
        for (const one of ofNetwork) one.asked(request)
      },
      unknownText: (context) => {
        for (const one of ofNetwork) one.unknownText?.(context)
      },
    }
  }
}
