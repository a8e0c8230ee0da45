import { readdir, readFile } from 'node:fs/promises'
import { Keypair } from '@stellar/stellar-sdk'
import { startSolana } from '../../../simulators/solana/start-solana.ts'
import { associatedAddress, plantMint } from '../../../simulators/solana/tokens.ts'
import { createWallet, signContent, unitLimit, unitPrice } from '../../../simulators/solana/wallet.ts'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { AS_PAYER } from '../../../test/chains/solana/build.ts'
import { paymentBy } from '../../../test/plugins/x402/evm-payment.ts'
import { NETWORK, startEvmSite } from '../../../test/plugins/x402/evm-site.ts'
import { pluginEntry } from '../../../test/plugins/x402/plugin-entry.ts'
import {
  GENESIS,
  holdTokens,
  memo,
  SOLANA_NETWORK,
  solanaBody,
  transferChecked,
} from '../../../test/plugins/x402/solana-payment.ts'
import { stellarPayment } from '../../../test/plugins/x402/stellar-payment.ts'
import { anvilNetwork, ON_ANVIL } from '../../../test/support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../../test/support/faulty-node.ts'
import { type ServiceProcess, startProcess } from '../../../test/support/process.ts'
import { API_KEY, configFile, type ServiceOptions } from '../../../test/support/service.ts'
import { SOL, MAIN as SOLANA_MAIN, solanaConfig } from '../../../test/support/solana-scenario.ts'
import { keypairOf, MAIN, stellarConfig, XLM } from '../../../test/support/stellar-scenario.ts'
import { type Row, single } from '../measurement.ts'
import { becomes, WITHOUT_LIMITS, withFolder } from '../support/stage.ts'

/** Verifications that are counted, and those before, which compile the code. */
const VERIFIED = 300
const WARM_UP = 100

/** Payments that are settled, so many at a time. */
const SETTLED = 40
const AT_A_TIME = 8

/** Buyers who pay at the same moment. */
const BUYERS = 50

/** A network on which payments are settled, and the service beside it. */
interface Stand {
  readonly chain: string
  readonly service: ServiceProcess
  readonly node: FaultyNode
  /** Makes a payment of a new payer, as a resource server sends it. */
  payment(): Promise<object>
  stop(): Promise<void>
}

/** What a verification and a settlement cost on each chain: CPU of the service with its plugin, and calls to nodes; and how long many buyers wait. */
export async function benchX402(): Promise<Row[]> {
  const rows: Row[] = []
  for (const start of [onEvm, onSolana, onStellar])
    rows.push(
      ...(await withFolder(async (folder) => {
        const stand = await start(folder)
        try {
          return await measure(stand)
        } finally {
          await stand.stop()
        }
      })),
    )
  return rows
}

async function measure({ chain, service, node, payment }: Stand): Promise<Row[]> {
  const recent = kept(payment)
  const verify = async () => ask(service, 'verify', await recent())
  await together(WARM_UP, verify)
  const verified = await cost({ service, node }, VERIFIED, () => together(VERIFIED, verify))
  const bodies: object[] = []
  for (let count = 0; count < SETTLED + AT_A_TIME; count += 1) bodies.push(await payment())
  const settle = () => ask(service, 'settle', bodies.pop() ?? {})
  await together(AT_A_TIME, settle)
  const settled = await cost({ service, node }, SETTLED, () => together(SETTLED, settle))
  const seconds = await atOnce({ service, payment })
  return [
    single(`x402 on ${chain}: verifications per second of a core`, 1000 / verified.cpuMs, { unit: '' }),
    single(`x402 on ${chain}: calls to nodes per verification`, verified.calls, { unit: '', digits: 1 }),
    single(`x402 on ${chain}: CPU per settlement`, settled.cpuMs, { unit: 'ms', digits: 1 }),
    single(`x402 on ${chain}: calls to nodes per settlement, all calls of the time`, settled.calls, {
      unit: '',
      digits: 1,
    }),
    single(`x402 on ${chain}: ${BUYERS} buyers at once, all served`, seconds, { unit: 's', digits: 1 }),
  ]
}

/** How long it takes until all of those who come at once have paid, in seconds. */
async function atOnce({ service, payment }: Pick<Stand, 'service' | 'payment'>): Promise<number> {
  const bodies: object[] = []
  for (let count = 0; count < BUYERS; count += 1) bodies.push(await payment())
  const start = performance.now()
  await Promise.all(bodies.map((body) => ask(service, 'settle', body)))
  return (performance.now() - start) / 1000
}

/** For each of so many, with the calls that the service makes anyway. */
async function cost(
  { service, node }: Pick<Stand, 'service' | 'node'>,
  count: number,
  work: () => Promise<void>,
): Promise<{ readonly cpuMs: number; readonly calls: number }> {
  node.calls.clear()
  const before = await cpuOfAll(service.child.pid)
  await work()
  const calls = [...node.calls.values()].reduce((sum, each) => sum + each, 0)
  return { cpuMs: ((await cpuOfAll(service.child.pid)) - before) / count, calls: calls / count }
}

/** Works so many times, a few at a time. */
async function together(times: number, work: () => Promise<void>): Promise<void> {
  let left = times
  const worker = async () => {
    while (left > 0) {
      left -= 1
      await work()
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
}

/** A payment on Solana is valid for half a minute, so a new one is made after this time, in ms. */
const KEPT_MS = 8_000

function kept(make: () => Promise<object>): () => Promise<object> {
  let made = { at: Number.NEGATIVE_INFINITY, payment: Promise.resolve<object>({}) }
  return () => {
    const now = performance.now()
    if (now - made.at > KEPT_MS) made = { at: now, payment: make() }
    return made.payment
  }
}

/** @throws Error if the payment is refused, because then something else is measured */
async function ask({ url }: ServiceProcess, step: 'verify' | 'settle', body: object): Promise<void> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/x402/${step}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  const { isValid, success } = JSON.parse(text) as { isValid?: boolean; success?: boolean }
  if (isValid !== true && success !== true) throw new Error(`x402 ${step}: ${text}`)
}

/** USER_HZ of Linux: a tick of /proc/<pid>/stat, in ms. */
const TICK_MS = 10

/** User and system time of a process and of those that it started, in ms. */
async function cpuOfAll(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  let ms = (Number(fields[11]) + Number(fields[12])) * TICK_MS
  for (const task of await readdir(`/proc/${pid}/task`)) {
    const children = await readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')
    for (const child of children.split(' ').filter(Boolean)) ms += await cpuOfAll(Number(child))
  }
  return ms
}

async function serve(
  folder: string,
  network: string,
  options: Pick<ServiceOptions, 'rpcUrls' | 'networks' | 'relayers' | 'signers'>,
): Promise<ServiceProcess> {
  const plugins = [pluginEntry([{ network, relayer_id: 'main' }])]
  const config = configFile({ ...options, plugins })
  const service = await startProcess({ rpcUrl: '', folder, config, env: WITHOUT_LIMITS })
  await becomes(async () => {
    const headers = { authorization: `Bearer ${API_KEY}` }
    const answer = await fetch(`${service.url}/api/v1/plugins/x402`, { headers })
    return (await answer.text()).includes('"status":"ready"')
  }, 50)
  return service
}

async function onEvm(folder: string): Promise<Stand> {
  let node: FaultyNode | undefined
  let service: ServiceProcess | undefined
  const site = await startEvmSite({}, [], undefined, async ({ rpcUrls }) => {
    node = await startFaultyNode(rpcUrls[0] ?? '')
    service = await serve(folder, NETWORK, {
      rpcUrls: [],
      networks: [anvilNetwork([node.url], {})],
      relayers: [{ id: 'main', name: 'Main', signer_id: 'dev-0', ...ON_ANVIL }],
    })
    return { url: service.url, api: () => Promise.reject(new Error('unused')), stop: async () => undefined }
  })
  if (!node || !service) throw new Error('the service was not started')
  const [counting, running] = [node, service]
  await site.anvil.rpc('evm_setIntervalMining', [1])
  return {
    chain: 'EVM',
    service: running,
    node: counting,
    payment: async () => paymentBy(await site.payer(), site),
    stop: async () => {
      await running.terminate()
      await site.stop()
      await counting.stop()
    },
  }
}

const AMOUNT = 10_000n

async function onSolana(folder: string): Promise<Stand> {
  const solana = await startSolana({ slotMs: 400, genesisHash: GENESIS })
  const node = await startFaultyNode(solana.url)
  const [mint, merchant] = [createWallet().address, createWallet().address]
  solana.airdrop(SOLANA_MAIN, 10n * SOL)
  plantMint(solana, mint, { decimals: 6 })
  const destination = await holdTokens(solana, { owner: merchant, mint, amount: 0n })
  const service = await serve(folder, SOLANA_NETWORK, solanaConfig(solana, { urls: [node.url] }))
  const payment = async () => {
    const payer = createWallet()
    const source = await associatedAddress(payer.address, mint)
    await holdTokens(solana, { owner: payer.address, mint, amount: AMOUNT })
    const transfer = transferChecked({ source, mint, destination, authority: payer.address, amount: AMOUNT })
    const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
    const steps = [unitLimit(60_000), unitPrice(1n), transfer, memo(payer.address)]
    const { base64 } = signContent({ signers: [AS_PAYER, payer], blockhash, steps })
    const parts = { transaction: base64, mint, payTo: merchant, feePayer: SOLANA_MAIN, amount: AMOUNT }
    return solanaBody(parts)
  }
  return {
    chain: 'Solana',
    service,
    node,
    payment,
    stop: async () => {
      await service.terminate()
      await node.stop()
      await solana.stop()
    },
  }
}

const PASSPHRASE = 'Test SDF Network ; September 2015'

/** Accounts that send: each makes one transaction in a ledger. */
const CHANNELS = AT_A_TIME

async function onStellar(folder: string): Promise<Stand> {
  const ledger = await startLedger({ closeEveryMs: 1000, passphrase: PASSPHRASE })
  const node = await startFaultyNode(ledger.url)
  const payTo = keypairOf('merchant').publicKey()
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  ledger.fund(payTo, 100n * XLM)
  const options = { urls: [node.url], passphrase: PASSPHRASE, relayer: { channels: CHANNELS } }
  const service = await serve(folder, 'stellar:testnet', stellarConfig(options))
  const payment = async () => {
    const payer = Keypair.random()
    ledger.fund(payer.publicKey(), 100n * XLM)
    return (await stellarPayment({ ledger, payer, payTo, passphrase: PASSPHRASE })).body
  }
  return {
    chain: 'Stellar',
    service,
    node,
    payment,
    stop: async () => {
      await service.terminate()
      await node.stop()
      await ledger.stop()
    },
  }
}
