import type { Address } from '@solana/kit'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { startSolana, type TestSolana, type TestSolanaNode } from '../../../simulators/solana/start-solana.ts'
import {
  createAccount,
  createWallet,
  initializeNonce,
  NONCE_ACCOUNT_LENGTH,
  type Step,
  signContent,
} from '../../../simulators/solana/wallet.ts'
import {
  type Contradiction,
  createContradiction,
  type FaultyNode,
  REFUSALS,
  startFaultyNode,
} from '../../../test/support/faulty-node.ts'
import { plainSigner } from '../../../test/support/service.ts'
import { broadcastDirectly } from '../../../test/support/solana-scenario.ts'
import { actionOf } from '../common-event.ts'
import type { HistoryRun } from '../history-run.ts'
import { createAmounts } from '../ledger.ts'
import { failing, lieInTurn, scaled } from '../liar.ts'
import type { Action } from '../step.ts'
import type { CrashKit, TestChain } from '../test-chain.ts'
import { replacePayment, sendCosigned, sendPayment } from './calls.ts'
import { solanaChainRecord } from './chain-record.ts'
import { ACCOUNTS, CUSTOMERS, type Environment, fundAll } from './environment.ts'
import { drawEvent, type Event, type OwnEvent } from './event.ts'
import { networkEvent, openBlocks, restoreLedgers } from './network-event.ts'

/** Opens a nonce account for each relayer, which only that relayer can advance; the first customer pays for them. */
async function openNonces(solana: TestSolana): Promise<Address[]> {
  const [customer] = CUSTOMERS
  const lamports = solana.rentExemption(NONCE_ACCOUNT_LENGTH)
  const nonces = ACCOUNTS.map(() => createWallet())
  for (const [index, nonce] of nonces.entries()) {
    const authority = ACCOUNTS[index]?.address ?? ACCOUNTS[0].address
    const steps: Step[] = [
      createAccount(customer.address, nonce.address, {
        lamports,
        space: NONCE_ACCOUNT_LENGTH,
        owner: SYSTEM_PROGRAM,
      }),
      initializeNonce(nonce.address, authority),
    ]
    const { blockhash } = solana.tick()
    await broadcastDirectly(solana, signContent({ signers: [customer, nonce], blockhash, steps }).base64)
  }
  solana.tick()
  const missing = nonces.filter(({ address }) => solana.account(address) === undefined)
  if (missing.length > 0) throw new Error('the nonce accounts could not be opened')
  return nonces.map(({ address }) => address)
}

export interface SolanaTestChainOptions {
  readonly endpoints: number
  /** The second relayer has two accounts. */
  readonly pools?: boolean
  /** The first endpoint of several lies. */
  readonly liar?: boolean
  /** The time of the test bed, in ms since 1970: the network's clock and ours are the same. */
  readonly now: () => number
}

/** Waits of the service, such as until bytes are offered again, are over sooner by this factor; no blockhash lapses by it. */
const HASTE = 10

/** Blocks until one is final: fewer than on the public networks, and enough for forks of many depths. */
const FINALIZED_LAG = 12

/** How far a replica can be behind, in blocks: by more than what is not final. */
const MAX_LAG = 16

/** Time between two blocks, in ms. */
const SLOT_MS = 100

/** With nothing to include and nothing to make final, this many blocks come at once: a lapse takes more than 150. */
const IDLE_BLOCKS = 4

/** When the service gives up a request, in ms of its own time: many blocks, because histories are in a hurry. */
const RPC_TIMEOUT_MS = 60_000

/** How many transactions fit into a block when nothing is wrong. */
const CAPACITY = 1_000

/** What an endpoint answers that lies. */
const LIES = [
  scaled(['getRecentPrioritizationFees'], 1_000),
  scaled(['getRecentPrioritizationFees'], 0),
  scaled(['getEpochInfo', 'getSlot', 'getBlockHeight'], 1_000),
  scaled(['getBalance'], 0),
  failing(['simulateTransaction'], 'the stars are not right'),
]

/** A network that makes blocks when it is told, behind this many nodes that can fail. */
export async function startSolanaTestChain({
  endpoints,
  pools = false,
  liar = false,
  now,
}: SolanaTestChainOptions): Promise<TestChain> {
  const solana = await startSolana({ slotMs: 'manual', finalizedLag: FINALIZED_LAG, now })
  const heard = new Set<string>()
  const own = Array.from({ length: endpoints }, () => solana.node())
  const contradiction = createContradiction(REFUSALS.solana)
  const nodes = await Promise.all(own.map((node) => startNode(node, { heard, contradiction })))
  fundAll(solana)
  const environment: Environment = {
    solana,
    own,
    newContent: createAmounts(),
    pools,
    nonces: await openNonces(solana),
  }
  solana.tick(FINALIZED_LAG + 1)
  return {
    nodes,
    service: serviceOn(solana, nodes, pools),
    relayers: ACCOUNTS.map(({ relayer }) => relayer),
    secrets: ACCOUNTS.flatMap(({ seed, further }) => [seed, ...(further ? [further.seed] : [])]).map(hexOf),
    sky: { maxLag: MAX_LAG, forks: false },
    depth: FINALIZED_LAG,
    blockMs: SLOT_MS * IDLE_BLOCKS,
    haste: HASTE,
    crash: crashKit(environment),
    draw: (random, troubles) =>
      toAction(environment, drawEvent(random, { ...DRAWN, nodes: endpoints, troubles })),
    makeBlock: () => Promise.resolve(void solana.tick(isIdle(solana) ? IDLE_BLOCKS : 1)),
    relieve: () => {
      Object.assign(solana.market, { capacity: CAPACITY, requiredPrice: 0n })
      restoreLedgers(environment)
      lieInTurn(nodes[0], [])
      return Promise.resolve(fundAll(solana))
    },
    chainRecord: () => {
      lieInTurn(nodes[0], liar ? LIES : [])
      return Promise.resolve(solanaChainRecord(solana, heard))
    },
    finish: () => Promise.resolve([]),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()))
      await solana.stop()
    },
  }
}

const DRAWN = { accounts: ACCOUNTS.length, customers: CUSTOMERS.length, maxDepth: FINALIZED_LAG }

/** Whether more blocks at once change nothing that could be seen between them. */
function isIdle(solana: TestSolana): boolean {
  const open = solana.blocks.slice(solana.blocks.length - openBlocks(solana))
  return solana.pending().length === 0 && open.every(({ transactions }) => transactions.length === 0)
}

function startNode(
  node: TestSolanaNode,
  { heard, contradiction }: { heard: Set<string>; contradiction: Contradiction },
): Promise<FaultyNode> {
  return startFaultyNode(node.url, {
    contradiction,
    replica: (behind) => node.replica({ behind }),
    nameOf: ({ method = '', params }) => {
      const [transaction] = params as readonly unknown[]
      if (method === 'sendTransaction' && typeof transaction === 'string') heard.add(transaction)
      return method
    },
  })
}

function serviceOn(
  { genesisHash }: TestSolana,
  nodes: readonly FaultyNode[],
  pools: boolean,
): TestChain['service'] {
  const network = {
    type: 'solana',
    network: 'local',
    genesis_hash: genesisHash,
    is_testnet: true,
    average_blocktime_ms: SLOT_MS,
    rpc_urls: nodes.map(({ url }) => url),
  }
  return {
    rpcUrls: [],
    networks: [network],
    env: { RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS) },
    signers: ACCOUNTS.flatMap(({ relayer, seed, further }) => [
      plainSigner(relayer, hexOf(seed)),
      ...(further ? [plainSigner(furtherOf(relayer), hexOf(further.seed))] : []),
    ]),
    relayers: ACCOUNTS.map(({ relayer, further }) => ({
      id: relayer,
      name: relayer,
      network: 'local',
      network_type: 'solana',
      signer_id: relayer,
      notification_id: 'ops',
      ...(pools && further && { accounts: [{ signer_id: relayer }, { signer_id: furtherOf(relayer) }] }),
    })),
  }
}

const furtherOf = (relayer: string) => `${relayer}-further`
const hexOf = (seed: Uint8Array) => Buffer.from(seed).toString('hex')

function crashKit(environment: Environment): CrashKit {
  const action = (event: Event) => toAction(environment, event)
  return {
    broadcastCall: 'sendTransaction',
    receiptCall: 'getSignatureStatuses',
    send: action({ is: 'send', account: 0, speed: 'none', durable: false }),
    replace: unheard(environment, action({ is: 'replace', target: 0, speed: 'fast' })),
    cancel: unheard(environment, action({ is: 'cancel', target: 0 })),
  }
}

/** The network loses what waits just before: else it would include that, and nothing were left to change. */
function unheard({ solana }: Environment, action: Action): Action {
  return {
    ...action,
    happen: (run) => {
      solana.dropPending()
      return action.happen(run)
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
    case 'cosign':
      return sendCosigned(environment, run, event)
    case 'replace':
      return replacePayment(environment, run, event)
    default:
      return networkEvent(environment, run, event)
  }
}
