import { startAnvil } from '../../support/anvil.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import { deedOf } from '../common-event.ts'
import type { Deed } from '../deed.ts'
import type { CrashKit, Site } from '../site.ts'
import type { Stage } from '../stage.ts'
import { ACCOUNTS, CONFIRMATIONS } from './accounts.ts'
import { replacePayment, sendPayment } from './calls.ts'
import { chainEvent, fund } from './chain-event.ts'
import { drawEvent, type Event, type OwnEvent } from './event.ts'
import { createPayments, type Environment } from './ground.ts'
import { takeHabit } from './habit.ts'
import { evmWitness } from './witness.ts'

/** Time between two blocks while a history is brought to its end, in ms. */
const BLOCK_MS = 500

/**
 * How long what endpoints have deleted stays away after all other trouble has ended, in blocks. Longer than it takes until a nonce
 * counts as used by somebody else, so that a service that believes a missing receipt has the time to act on it.
 */
const BLOCKS_WITHOUT_ARCHIVE = 100

/** Anvil behind so many nodes that can fail. */
export async function startEvmSite({ endpoints }: { readonly endpoints: number }): Promise<Site> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  // So many can be undone from the first step on.
  for (let count = 0; count < CONFIRMATIONS; count += 1) await anvil.rpc('evm_mine')
  const nodes = await Promise.all(Array.from({ length: endpoints }, () => startFaultyNode(anvil.url)))
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
      toDeed(
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
    witness: () => {
      // Each history begins alike, so that it can be replayed alone.
      for (const node of nodes) [node.pruning, node.habits] = [undefined, undefined]
      return evmWitness(anvil)
    },
    finish: () => Promise.resolve([]),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()))
      await anvil.stop()
    },
  }
}

function crashKit(environment: Environment): CrashKit {
  const deed = (event: Event) => toDeed(environment, event)
  return {
    broadcastCall: 'eth_sendRawTransaction',
    receiptCall: 'eth_getTransactionReceipt',
    send: deed({ is: 'send', account: 0, price: 'none', gas: false, reverts: false }),
    replace: deed({ is: 'replace', target: 0, price: 'fastest', gas: false }),
    cancel: deed({ is: 'cancel', target: 0 }),
  }
}

function toDeed(environment: Environment, event: Event): Deed {
  return deedOf<OwnEvent>(event, (stage, own) => happen(environment, stage, own))
}

function happen(environment: Environment, stage: Stage, event: OwnEvent): Promise<void> {
  switch (event.is) {
    case 'send':
      return sendPayment(environment, stage, event)
    case 'replace':
      return replacePayment(environment, stage, event)
    case 'habit':
      return takeHabit(environment, event)
    default:
      return chainEvent(environment, stage, event)
  }
}
