import { ON_ANVIL, startAnvil } from '../../../test/support/anvil.ts'
import { createContradiction, REFUSALS, startFaultyNode } from '../../../test/support/faulty-node.ts'
import { plainSigner } from '../../../test/support/service.ts'
import { actionOf } from '../common-event.ts'
import type { HistoryRun } from '../history-run.ts'
import type { Action } from '../step.ts'
import type { CrashKit, TestChain } from '../test-chain.ts'
import {
  ACCOUNTS,
  type Account,
  CONFIRMATIONS,
  PRIVATE_ACCOUNT,
  SHARED,
  withFurtherAccount,
} from './accounts.ts'
import { startBuilder } from './builder.ts'
import { replacePayment, sendPayment } from './calls.ts'
import { chainEvent, fund } from './chain-event.ts'
import { evmChainRecord } from './chain-record.ts'
import { DEEPEST, type DeepReorg, deepReorg } from './deep-reorg.ts'
import { applyBehaviour, refusingUnwanted } from './endpoint-behaviour.ts'
import { createPayments, type Environment, type Fees } from './environment.ts'
import { drawEvent, type Event, type OwnEvent } from './event.ts'
import { type FeeEvent, feeEvent, tellTips } from './fee-event.ts'
import { createFeeWatch } from './fee-watch.ts'
import { createReorganisations, tapSigned } from './reorg-watch.ts'

/** Time between two blocks while a history is brought to its end, in ms. */
const BLOCK_MS = 500

/**
 * How long what endpoints have deleted stays away after all other trouble has ended, in blocks. Longer than it takes until a nonce
 * counts as used by a third party, so that a service that believes a missing receipt has the time to act on it.
 */
const BLOCKS_WITHOUT_ARCHIVE = 100

interface EvmOptions {
  readonly endpoints: number
  /** Histories about fees: a private account and its builder, blocks that do not come, and prices that change. */
  readonly fees?: boolean
  /** Nodes refuse some content permanently, in words that no one knows. */
  readonly refusals?: boolean
  /** Histories about reorganisations that are deeper than finality: the relayers have budgets. */
  readonly reorganisations?: boolean
  /** The second relayer has two accounts. */
  readonly pools?: boolean
  /** The first endpoint of several lies. */
  readonly liar?: boolean
}

/**
 * The longest that anything may stand when all other trouble has ended, in ms, where nodes refuse content in unknown words: ten minutes until the
 * first such content ends, because an endpoint that answers "internal error" rests and counts as silent beside another one, and half a minute for
 * each behind it. With one endpoint it is two and a half minutes.
 */
const STANDS_MS = { alone: 300_000, amongOthers: 750_000 } as const

/**
 * The time after which every record has to say again what the chain says, in ms. The service looks at final blocks every 30 s, and another time
 * for what a node did not answer; what is broadcast again then gets into a block and is final a few blocks later.
 */
const TRUE_AGAIN_MS = 120_000

/** No history comes near it: a budget that counts and never refuses. */
const BUDGET = {
  limits: [{ per: 'month', value: String(10n ** 30n), fees: String(10n ** 30n), count: 1_000_000 }],
}

/** Anvil behind this many nodes that can fail. */
export async function startEvmTestChain({
  endpoints,
  fees: isAboutFees = false,
  refusals = false,
  reorganisations: loses = false,
  pools = false,
  liar = false,
}: EvmOptions): Promise<TestChain> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  // So many can be undone from the first step on.
  const depth = loses ? DEEPEST : CONFIRMATIONS
  for (let count = 0; count < depth; count += 1) await anvil.rpc('evm_mine')
  const contradiction = createContradiction(REFUSALS.evm)
  const nodes = await Promise.all(
    Array.from({ length: endpoints }, () => startFaultyNode(anvil.url, { contradiction })),
  )
  let untilArchive = 0
  const fees = isAboutFees ? await startFees() : undefined
  const own = fees === undefined ? ACCOUNTS : [...ACCOUNTS, PRIVATE_ACCOUNT]
  const accounts: readonly Account[] = pools ? withFurtherAccount(own) : own
  const unwanted = refusals ? new Set<string>() : undefined
  const reorganisations = loses ? createReorganisations() : undefined
  const keep = reorganisations && tapSigned(reorganisations)
  for (const [index, node] of nodes.entries())
    node.tap = (call, reply) => {
      // What the liar answers is no price that the service may pay.
      fees?.watch.tap(call, liar && index === 0 ? undefined : reply)
      keep?.(call, reply)
    }
  const environment: Environment = {
    anvil,
    nodes,
    accounts,
    fees,
    unwanted,
    reorganisations,
    newContent: createPayments(),
  }
  const resetHabits = () => {
    const habits = fees && { lie: tellTips(fees) }
    for (const node of nodes) node.habits = unwanted ? refusingUnwanted(habits ?? {}, unwanted) : habits
  }
  return {
    nodes,
    service: {
      rpcUrls: nodes.map((node) => node.url),
      network: {
        required_confirmations: CONFIRMATIONS,
        ...(fees && { private_rpc_urls: [fees.builder.url] }),
      },
      policies: { shared_account: true },
      ...((fees || loses || pools) && {
        relayers: accounts.map((account) => relayerOf(account, loses ? BUDGET : undefined)),
        signers: accounts.flatMap(signersOf),
      }),
      // A request that is lost is given up soon, because histories are short; where the clock jumps, it is not given up at each jump.
      env: { RPC_TIMEOUT_MS: fees === undefined ? '1000' : '600000' },
    },
    relayers: accounts.map(({ relayer }) => relayer),
    secrets: accounts
      .flatMap(({ key, further }) => [key, ...(further ? [further.key] : [])])
      .map((key) => key.slice(2)),
    sky: { maxLag: CONFIRMATIONS, forks: true },
    depth,
    blockMs: BLOCK_MS,
    ...(refusals && { standsMs: endpoints > 1 ? STANDS_MS.amongOthers : STANDS_MS.alone }),
    ...(loses && { trueAgainMs: TRUE_AGAIN_MS }),
    haste: 1,
    crash: crashKit(environment),
    draw: (random, troubles) =>
      toAction(
        environment,
        drawEvent(random, {
          accounts: accounts.length,
          endpoints,
          maxDepth: CONFIRMATIONS,
          troubles,
          fees: fees !== undefined,
          refusals,
          reorganisations: loses,
          liar,
        }),
      ),
    makeBlock: async () => {
      await fees?.builder.handOver(anvil)
      await anvil.rpc('evm_mine')
      if (untilArchive > 0) untilArchive -= 1
      if (untilArchive === 0) for (const node of nodes) node.pruning = undefined
    },
    relieve: async () => {
      for (const [account] of accounts.entries()) await fund(environment, account)
      fees?.builder.relieve()
      resetHabits()
      untilArchive = BLOCKS_WITHOUT_ARCHIVE
    },
    chainRecord: (testBed) => {
      // Each history begins alike, so that it can be replayed alone.
      for (const node of nodes) node.pruning = undefined
      resetHabits()
      fees?.watch.begin()
      fees?.builder.leaveOut()
      if (fees !== undefined) fees.tipFactor = 1
      reorganisations?.lost.clear()
      return evmChainRecord(environment, testBed)
    },
    finish: () =>
      Promise.resolve(
        reorganisations?.lostInAll === 0
          ? ['no final transaction lost its block in all these histories, so they show nothing']
          : [],
      ),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()))
      await fees?.builder.stop()
      await anvil.stop()
    },
  }
}

async function startFees(): Promise<Fees> {
  const watch = createFeeWatch()
  return { watch, builder: await startBuilder(watch.heard), tipFactor: 1 }
}

function relayerOf({ relayer, address, further }: Account, rules: object | undefined) {
  const isPrivate = address === PRIVATE_ACCOUNT.address
  return {
    id: relayer,
    name: relayer,
    signer_id: relayer,
    ...(further && { accounts: [{ signer_id: relayer }, { signer_id: `${relayer}-further` }] }),
    ...ON_ANVIL,
    policies: {
      ...(isPrivate && { private_transactions: true }),
      shared_account: relayer === SHARED.relayer,
      ...(rules && { rules }),
    },
  }
}

function signersOf({ relayer, key, further }: Account) {
  return [plainSigner(relayer, key), ...(further ? [plainSigner(`${relayer}-further`, further.key)] : [])]
}

function crashKit(environment: Environment): CrashKit {
  const action = (event: Event) => toAction(environment, event)
  return {
    broadcastCall: 'eth_sendRawTransaction',
    receiptCall: 'eth_getTransactionReceipt',
    send: action({ is: 'send', account: 0, price: 'none', gas: false, reverts: false }),
    replace: action({ is: 'replace', target: 0, price: 'fastest', gas: false }),
    cancel: action({ is: 'cancel', target: 0 }),
  }
}

function toAction(environment: Environment, event: Event): Action {
  return actionOf<OwnEvent | FeeEvent | DeepReorg>(event, (run, own) => happen(environment, run, own))
}

function happen(
  environment: Environment,
  run: HistoryRun,
  event: OwnEvent | FeeEvent | DeepReorg,
): Promise<void> {
  const { fees, reorganisations } = environment
  switch (event.is) {
    case 'halt':
    case 'stand_still':
    case 'leave_out':
    case 'market':
      return fees === undefined ? Promise.resolve() : feeEvent(environment, fees, { run, event })
    case 'deep_reorg':
      return reorganisations === undefined
        ? Promise.resolve()
        : deepReorg(environment, reorganisations, { run, event })
    case 'send':
      return sendPayment(environment, run, event)
    case 'replace':
      return replacePayment(environment, run, event)
    case 'behaviour':
      return applyBehaviour(environment, event)
    default:
      return chainEvent(environment, run, event)
  }
}
