import { afterEach, describe, expect, test } from 'vitest'
import { startSolana } from '../../../simulators/solana/start-solana.ts'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { startAnvil } from '../../support/anvil.ts'
import {
  createContradiction,
  type FaultyNode,
  loseNextBroadcast,
  REFUSALS,
  startFaultyNode,
} from '../../support/faulty-node.ts'
import { scenarioOf } from '../../support/scenario.ts'
import { type Story, startService } from '../../support/service.ts'
import {
  SOL,
  MAIN as SOLANA_MAIN,
  solanaConfig,
  solanaScenarioOf,
  transfer,
} from '../../support/solana-scenario.ts'
import {
  MAIN,
  payment,
  RECEIVER,
  stellarConfig,
  stellarScenarioOf,
  XLM,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of open.splice(0)) await stop()
})

interface Stage {
  readonly story: Story
  readonly nodes: readonly FaultyNode[]
  /** Makes a block. */
  readonly advance: () => void
}

type StageOf = () => Promise<Stage>

async function startNodes(url: string, refusals: (typeof REFUSALS)[keyof typeof REFUSALS]) {
  const contradiction = createContradiction(refusals)
  const start = () => startFaultyNode(url, { contradiction })
  const nodes = [await start(), await start()]
  open.push(async () => void (await Promise.all(nodes.map((node) => node.stop()))))
  return nodes
}

/** A reply that never comes costs one time-out, in ms. */
const env = { RPC_TIMEOUT_MS: '2000' }

const evm: StageOf = async () => {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const nodes = await startNodes(anvil.url, REFUSALS.evm)
  const story = scenarioOf(anvil, await startService({ rpcUrls: nodes.map(({ url }) => url), env }))
  open.unshift(story.stop)
  return { story, nodes, advance: () => void story.mine() }
}

const stellar: StageOf = async () => {
  const ledger = await startLedger({ closeEveryMs: 'manual' })
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
  const nodes = await startNodes(ledger.url, REFUSALS.stellar)
  const config = stellarConfig({ urls: nodes.map(({ url }) => url), passphrase: ledger.passphrase })
  const story = stellarScenarioOf(ledger, await startService({ ...config, env }))
  open.unshift(story.stop)
  return { story, nodes, advance: () => ledger.close() }
}

const solana: StageOf = async () => {
  const network = await startSolana({ slotMs: 'manual' })
  network.airdrop(SOLANA_MAIN, 10n * SOL)
  const nodes = await startNodes(network.url, REFUSALS.solana)
  const config = solanaConfig(network, { urls: nodes.map(({ url }) => url) })
  const story = solanaScenarioOf(network, await startService({ ...config, env }))
  open.unshift(story.stop)
  return { story, nodes, advance: () => network.tick() }
}

const TO = ['0x0000000000000000000000000000000000000a01', '0x0000000000000000000000000000000000000a02']

describe('an endpoint takes the bytes, its reply is lost, and the other endpoint refuses them', () => {
  test.each([
    ['evm', evm, 'eth_sendRawTransaction', (n: number) => ({ to: TO[n], value: 1 + n, speed: 'fastest' })],
    ['stellar', stellar, 'sendTransaction', (n: number) => payment(1 + n)],
  ] as const)(
    'a replacement is not refused, because it is included (%s)',
    async (_chain, stage, method, body) => {
      const { story, nodes, advance } = await stage()
      const sent = await story.send(body(0))
      await story.reach(sent.id, 'submitted')
      const answerAgain = loseNextBroadcast(nodes, method)
      const { status, body: answer } = await story.replace(sent.id, body(1))
      expect(status).toBe(200)
      expect(JSON.stringify(answer.metadata)).toContain('no node has accepted it yet')
      advance()
      answerAgain()
      const final = await story.reach(sent.id, 'confirmed', advance)
      expect(final.hash).toBe(answer.data.hash)
      expect(final.attempts.map(({ outcome }) => outcome)).toEqual(['superseded', 'mined'])
    },
  )

  test('a transaction on Solana is not given up, because it is included', async () => {
    const { story, nodes, advance } = await solana()
    const answerAgain = loseNextBroadcast(nodes, 'sendTransaction')
    const sent = await story.send(transfer(5_000_000n))
    const waiting = await until(
      () => story.get(sent.id),
      ({ status_reason }) => status_reason !== undefined,
    )
    expect(waiting.status_reason).toContain('The node refuses it: Transaction signature verification failure')
    advance()
    answerAgain()
    const final = await story.reach(sent.id, 'confirmed', advance)
    expect(final.attempts.map(({ outcome }) => outcome)).toEqual(['mined'])
  })
})
