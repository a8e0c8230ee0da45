import { startAnvil } from '../../support/anvil.ts'
import { createContradiction, REFUSALS } from '../../support/contradiction.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import { actionOf } from '../common-event.ts'
import type { HistoryRun } from '../history-run.ts'
import type { Action } from '../step.ts'
import type { CrashKit, TestChain } from '../test-chain.ts'
import { ACCOUNTS, CONFIRMATIONS } from './accounts.ts'
import { replacePayment, sendPayment } from './calls.ts'
import { chainEvent, fund } from './chain-event.ts'
import { evmChainRecord } from './chain-record.ts'
import { applyBehaviour } from './endpoint-behaviour.ts'
import { createPayments, type Environment } from './environment.ts'
import { drawEvent, type Event, type OwnEvent } from './event.ts'

/** Time between two blocks while a history is brought to its end, in ms. */
const BLOCK_MS = 500

/**
 * How long what endpoints have deleted stays away after all other trouble has ended, in blocks. Longer than it takes until a nonce
 * counts as used by somebody else, so that a service that believes a missing receipt has the time to act on it.
 */
const BLOCKS_WITHOUT_ARCHIVE = 100

/** Anvil behind so many nodes that can fail. */
export async function startEvmTestChain({ endpoints }: { readonly endpoints: number }): Promise<TestChain> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  // So many can be undone from the first step on.
  for (let count = 0; count < CONFIRMATIONS; count += 1) await anvil.rpc('evm_mine')
  const contradiction = createContradiction(REFUSALS.evm)
  const nodes = await Promise.all(
    Array.from({ length: endpoints }, () => startFaultyNode(anvil.url, { contradiction })),
  )
  let untilArchive = 0
  const environment: Environment = { anvil, nodes, newContent: createPayments() }
  return {
    nodes,
    service: {
      rpcUrls: nodes.map((node) => node.url),
      network: { required_confirmations: CONFIRMATIONS },
      // A request that is lost is given up soon: histories are short.
      env: { RPC_TIMEOUT_MS: '1000' },
    },
    relayers: ACCOUNTS.map(({ relayer }) => relayer),
    secrets: ACCOUNTS.map(({ key }) => key.slice(2)),
    sky: { maxLag: CONFIRMATIONS, forks: true },
    depth: CONFIRMATIONS,
    blockMs: BLOCK_MS,
    haste: 1,
    crash: crashKit(environment),
    draw: (random, { kills }) =>
      toAction(
        environment,
        drawEvent(random, { accounts: ACCOUNTS.length, endpoints, maxDepth: CONFIRMATIONS, kills }),
      ),
    makeBlock: async () => {
      await anvil.rpc('evm_mine')
      if (untilArchive > 0) untilArchive -= 1
      if (untilArchive === 0) for (const node of nodes) node.pruning = undefined
    },
    relieve: async () => {
      for (const [account] of ACCOUNTS.entries()) await fund(environment, account)
      for (const node of nodes) node.habits = undefined
      untilArchive = BLOCKS_WITHOUT_ARCHIVE
    },
    chainRecord: () => {
      // Each history begins alike, so that it can be replayed alone.
      for (const node of nodes) [node.pruning, node.habits] = [undefined, undefined]
      return evmChainRecord(anvil)
    },
    finish: () => Promise.resolve([]),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()))
      await anvil.stop()
    },
  }
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
  return actionOf<OwnEvent>(event, (run, own) => happen(environment, run, own))
}

function happen(environment: Environment, run: HistoryRun, event: OwnEvent): Promise<void> {
  switch (event.is) {
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
