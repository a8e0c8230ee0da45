import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import {
  type Contradiction,
  createContradiction,
  type FaultyNode,
  REFUSALS,
  startFaultyNode,
} from '../../../test/support/faulty-node.ts'
import { plainSigner } from '../../../test/support/service.ts'
import { RECEIVER, stellarConfig, XLM } from '../../../test/support/stellar-scenario.ts'
import { actionOf } from '../common-event.ts'
import type { HistoryRun } from '../history-run.ts'
import { createAmounts } from '../ledger.ts'
import { failing, lieInTurn, scaled } from '../liar.ts'
import type { Action } from '../step.ts'
import type { CrashKit, TestChain } from '../test-chain.ts'
import { bumpPayment, callContract, replaceBySigned, replacePayment, sendPayment } from './calls.ts'
import { stellarChainRecord } from './chain-record.ts'
import { useEverySourceAccount } from './channels.ts'
import {
  ACCOUNTS,
  CHANNELED,
  CUSTOMERS,
  closeLedger,
  type Environment,
  fundAll,
  SHARED,
} from './environment.ts'
import { drawEvent, type Event, type OwnEvent } from './event.ts'
import { ledgerEvent } from './ledger-event.ts'

export interface StellarTestChainOptions {
  readonly endpoints: number
  /** How many channel accounts the second relayer has. */
  readonly channels?: number
  /** The second relayer has two accounts. */
  readonly pools?: boolean
  /** The first endpoint of several lies. */
  readonly liar?: boolean
  /** The time of the test bed: the network's clock and ours are the same. */
  readonly now: () => number
  /** The relayer whose transactions crashes hit. */
  readonly crashAccount?: number
  /** Crashes hit a replacement that a customer has signed, of a transaction that no node holds any more. */
  readonly crashSigned?: boolean
  /** How many ledgers servers remember; absent for a week of them, because ledgers close many times a second while a process restarts. */
  readonly retentionLedgers?: number
}

/** The chain of histories on Stellar, with what only they use. */
export interface StellarTestChain extends TestChain {
  readonly environment: Environment
}

/** Waits of the service, such as for a node that rests, are over sooner by this factor; no version lapses by it. */
const HASTE = 10

/** How far a replica can be behind, in ledgers. */
const MAX_LAG = 3

/** Time between two ledgers while a history is brought to its end, in ms: as on the public networks. */
const LEDGER_MS = 5_000

/**
 * When the service gives up a request, in ms of its own time: several ledgers, or every ledger that a history is in a hurry
 * for would end what is under way.
 */
const RPC_TIMEOUT_MS = 60_000

/**
 * How many ledgers servers remember. Few, so that what was signed in a long silence is older than what they know; enough for the service to
 * find what it has lost when it looks without delay.
 */
export const SHORT_RETENTION = 240

/** How many operations fit into a ledger when nothing is wrong. */
const CAPACITY = 1_000

/** What an endpoint answers that lies. */
const LIES = [
  scaled(['getFeeStats'], 1_000),
  scaled(['getFeeStats'], 0),
  scaled(['getLatestLedger', 'getHealth'], 1_000),
  failing(['simulateTransaction'], 'the stars are not right'),
]

/** A ledger that closes when it is told, behind this many nodes that can fail. */
export async function startStellarTestChain(options: StellarTestChainOptions): Promise<StellarTestChain> {
  const {
    endpoints,
    channels = 0,
    pools = false,
    liar = false,
    now,
    crashAccount = 0,
    crashSigned = false,
    ...retention
  } = options
  const ledger = await startLedger({ closeEveryMs: 'manual', now, protocolVersion: 30, ...retention })
  const heard = new Set<string>()
  const contradiction = createContradiction(REFUSALS.stellar)
  const nodes = await Promise.all(
    Array.from({ length: endpoints }, () => startNode(ledger, { heard, contradiction })),
  )
  const environment: Environment = { ledger, newContent: createAmounts(), gossip: new Set() }
  ledger.fund(RECEIVER, XLM)
  fundAll(environment)
  ledger.close()
  return {
    environment,
    nodes,
    service: serviceOn(ledger, nodes, { channels, pools }),
    relayers: ACCOUNTS.map(({ relayer }) => relayer),
    secrets: ACCOUNTS.flatMap(({ keypair, further }) => [keypair, ...(further ? [further] : [])]).flatMap(
      (key) => [key.secret(), hexSeed(key.rawSecretKey())],
    ),
    sky: { maxLag: MAX_LAG, forks: false },
    depth: 0,
    blockMs: LEDGER_MS,
    haste: HASTE,
    crash: crashSigned ? signedCrashKit(environment, crashAccount) : crashKit(environment, crashAccount),
    draw: (random, troubles) =>
      toAction(
        environment,
        drawEvent(random, { accounts: ACCOUNTS.length, customers: CUSTOMERS.length, troubles }),
      ),
    // Ledgers may share a second (CAP-88). Where a crash waits for an earlier version to expire, time passes with them, and never lags behind ours.
    makeBlock: () => {
      const last = ledger.ledgers.at(-1)?.closeTime ?? 0
      const seconds = Math.max(1, Math.floor(now() / 1000) - last)
      return Promise.resolve(closeLedger(environment, crashSigned ? seconds : undefined))
    },
    relieve: () => {
      ledger.setCapacity(CAPACITY)
      ledger.setNodeFault('none')
      lieInTurn(nodes[0], [])
      return Promise.resolve(fundAll(environment))
    },
    chainRecord: () => {
      environment.gossip.clear()
      lieInTurn(nodes[0], liar ? LIES : [])
      return Promise.resolve(stellarChainRecord(ledger, heard))
    },
    finish: (testBed) => useEverySourceAccount(environment, testBed),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()))
      await ledger.stop()
    },
  }
}

function hexSeed(seed: Uint8Array): string {
  return Buffer.from(seed).toString('hex')
}

/** `head`: the question for the newest ledger, which is asked as one for a transaction that cannot be. */
function startNode(
  ledger: TestLedger,
  { heard, contradiction }: { heard: Set<string>; contradiction: Contradiction },
): Promise<FaultyNode> {
  return startFaultyNode(ledger.url, {
    contradiction,
    replica: (behind) => ledger.replica({ behind }),
    nameOf: ({ method = '', params }) => {
      const { hash, transaction } = params as { hash?: string; transaction?: string }
      if (method === 'sendTransaction' && transaction !== undefined) heard.add(transaction)
      return method === 'getTransaction' && /^0+$/.test(hash ?? '') ? 'head' : method
    },
  })
}

function serviceOn(
  { passphrase }: TestLedger,
  nodes: readonly FaultyNode[],
  { channels, pools }: { readonly channels: number; readonly pools: boolean },
): TestChain['service'] {
  const shared = { network: 'standalone', network_type: 'stellar' }
  return {
    ...stellarConfig({ urls: nodes.map(({ url }) => url), passphrase }),
    env: { RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS) },
    signers: ACCOUNTS.flatMap(({ relayer, keypair, further }) => [
      plainSigner(relayer, keypair.secret()),
      ...(further ? [plainSigner(furtherOf(relayer), further.secret())] : []),
    ]),
    relayers: ACCOUNTS.map(({ relayer, further }, index) => ({
      id: relayer,
      name: relayer,
      signer_id: relayer,
      notification_id: 'ops',
      ...shared,
      policies: { max_fee: 100_000_000, shared_account: index === SHARED },
      ...(index === CHANNELED && channels > 0 ? { channels } : {}),
      ...(pools && further && { accounts: [{ signer_id: relayer }, { signer_id: furtherOf(relayer) }] }),
    })),
  }
}

const furtherOf = (relayer: string) => `${relayer}-further`

function crashKit(environment: Environment, account: number): CrashKit {
  const action = (event: Event) => toAction(environment, event)
  return {
    broadcastCall: 'sendTransaction',
    receiptCall: 'getTransaction',
    send: action({ is: 'send', account, budget: 'none' }),
    replace: action({ is: 'replace', target: 0, budget: 'high' }),
    cancel: action({ is: 'cancel', target: 0 }),
  }
}

/** So long that the signed replacement can still be included when the earlier version has expired, in seconds. */
const SIGNED_SECONDS = 100_000

function signedCrashKit(environment: Environment, account: number): CrashKit {
  const replace = toAction(environment, {
    is: 'replace_signed',
    target: 0,
    customer: 0,
    seconds: SIGNED_SECONDS,
  })
  return {
    ...crashKit(environment, account),
    replace: {
      ...replace,
      happen: (run) => {
        environment.ledger.dropQueue()
        return replace.happen(run)
      },
    },
  }
}

function toAction(environment: Environment, event: Event): Action {
  return actionOf<OwnEvent>(event, (run, own) => happen(environment, run, own))
}

function happen(environment: Environment, run: HistoryRun, event: OwnEvent): Promise<void> {
  switch (event.is) {
    case 'send':
      return sendPayment(environment, run, event)
    case 'bump':
      return bumpPayment(environment, run, event)
    case 'call':
      return callContract(environment, run, event)
    case 'replace':
      return replacePayment(environment, run, event)
    case 'replace_signed':
      return replaceBySigned(environment, run, event)
    default:
      return ledgerEvent(environment, run, event)
  }
}
