import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PRODUCTION_CHECKLIST } from '../../src/cli/config/production-checklist.ts'
import { run } from '../../src/cli/run.ts'

const PAGE = await readFile('docs/production-checklist.md', 'utf8')

describe('the page and the command', () => {
  const bullets = PAGE.split('\n- [ ] ').slice(1)

  test('have the same lines in the same order, in the same sections', () => {
    const sections = [...PAGE.matchAll(/^\*\*(.+)\*\*$|^- \[ \] \*\*(.+?)\*\*/gm)]
    let section: string | undefined
    const lines = sections.flatMap(([, heading, title]) => {
      section = heading ?? section
      return title === undefined ? [] : [`${section}: ${title}`]
    })
    expect(lines).toEqual(PRODUCTION_CHECKLIST.map(({ section, title }) => `${section}: ${title}`))
  })

  test.each(PRODUCTION_CHECKLIST.map((line, index) => ({ ...line, index })))(
    '$title: the page says who checks it, and how',
    ({ isChecked, index }) => {
      const bullet = bullets[index] ?? ''
      expect(/^\*\*.+?\*\* ✓:/.test(bullet)).toBe(isChecked)
      if (!isChecked) expect(bullet).toMatch(/Check:\s/)
    },
  )
})

const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const OWN_KEY = '11'.repeat(32)
const ENV = {
  API_KEY: 'wJq3Zr8vT1mXkP0sLbYd7GhN5cFuE2aQ',
  HOT_KEY: OWN_KEY,
  HOOK_KEY: 'a-signing-key-of-enough-characters',
  STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 'sealing').toString('base64'),
  RELAYER_TRUSTED_PROXIES: '10.0.0.1',
  CONSOLE: 'off',
}

const READY = {
  relayers: [
    {
      id: 'payouts',
      network: 'mainnet',
      network_type: 'evm',
      signer_id: 'hot',
      notification_id: 'ops',
      policies: {
        gas_price_cap: '100000000000',
        whitelist_receivers: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'],
        min_balance: '1000',
        warn_balance: '10000',
        rules: { limits: [{ per: 'day', asset: 'native', value: '1000000000000000000' }] },
      },
    },
  ],
  signers: [{ id: 'hot', type: 'plain', config: { key: { type: 'env', value: 'HOT_KEY' } } }],
  notifications: [
    {
      id: 'ops',
      type: 'webhook',
      url: 'https://ops.example',
      signing_key: { type: 'env', value: 'HOOK_KEY' },
    },
  ],
  networks: [
    {
      type: 'evm',
      network: 'mainnet',
      from: 'mainnet',
      rpc_urls: ['https://eth.one.example', 'https://eth.two.test'],
    },
  ],
}

type Document = typeof READY

interface Deployment {
  readonly document?: object
  readonly env?: Record<string, string>
}

/** Runs `check-config --production` on a configuration in a folder of its own. */
async function check({ document = READY, env = {} }: Deployment = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-checklist-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'keys'))
  await writeFile(join(folder, 'keys/hook'), 'a-signing-key-of-enough-characters\n')
  await chmod(join(folder, 'keys/hook'), 0o644)
  await writeFile(join(folder, 'config.json'), JSON.stringify(document))
  const settings = { ...ENV, ...env, CONFIG_DIR: folder }
  Object.assign(process.env, settings)
  const [out, err]: [string[], string[]] = [[], []]
  const code = await run(['check-config', '--production'], {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  })
  for (const name of Object.keys(settings)) delete process.env[name]
  const states = new Map(
    out.flatMap((line) => {
      const [, state = '', title = '', what = ''] =
        /^ {2}(passed|failed|by hand) +([^:]+)(?:: (.*))?$/.exec(line) ?? []
      return title === '' ? [] : [[title, { state, what }]]
    }),
  )
  return { code, err, out, states }
}

/** A document with one change. */
function changed(change: (document: Document) => void): object {
  const document = structuredClone(READY)
  change(document)
  return document
}

const relayerWith = (policies: Record<string, unknown>) =>
  changed(({ relayers: [relayer] }) => void Object.assign(relayer?.policies ?? {}, policies))

test('a deployment that is ready fails no line, and says how a person checks the rest', async () => {
  const { code, err, out, states } = await check()
  expect(err).toEqual([])
  expect([...states].filter(([, { state }]) => state === 'failed')).toEqual([])
  expect(code).toBe(0)
  expect(states.size).toBe(PRODUCTION_CHECKLIST.length)
  for (const { state, what } of states.values()) expect(what === '').toBe(state === 'passed')
  expect(out.at(-1)).toMatch(/^\d+ passed, 0 failed, \d+ to check by hand$/)
  for (const { title, isChecked } of PRODUCTION_CHECKLIST)
    if (!isChecked) expect(states.get(title)?.state).toBe('by hand')
})

const NAMED_FILE = { type: 'file', value: 'keys/hook' }

test.each<[string, Deployment, string]>([
  ['Own keys', { env: { HOT_KEY: KEY } }, 'relayer "payouts" uses a key that is published'],
  [
    'Private files',
    {
      document: changed(
        ({ notifications: [hook] }) => void Object.assign(hook ?? {}, { signing_key: NAMED_FILE }),
      ),
    },
    'keys/hook (mode 644)',
  ],
  [
    'No secrets in the file',
    {
      document: changed(({ signers: [signer] }) => {
        Object.assign(signer?.config ?? {}, { key: { type: 'plain', value: OWN_KEY } })
      }),
    },
    'signers[0].config.key is in the file',
  ],
  ['Storage encryption key', { env: { STORAGE_ENCRYPTION_KEY: '' } }, 'is not set'],
  [
    'Gas price cap',
    { document: relayerWith({ gas_price_cap: null }) },
    'relayer "payouts" has no gas_price_cap',
  ],
  ['Minimum balance', { document: relayerWith({ min_balance: 0 }) }, 'relayer "payouts" has min_balance 0'],
  [
    'Limits of the file',
    {
      document: changed(
        ({ relayers: [relayer] }) => void Object.assign(relayer ?? {}, { api_may_relax: true }),
      ),
    },
    'relayer "payouts"',
  ],
  [
    'Two providers',
    {
      document: changed(({ networks: [network] }) => {
        Object.assign(network ?? {}, { rpc_urls: ['https://a.one.example', 'https://b.one.example'] })
      }),
    },
    'evm:mainnet uses only one.example',
  ],
  ['Two providers', { document: { ...READY, networks: [] } }, 'only public endpoints of the catalogue'],
  ['TLS proxy', { env: { RELAYER_TRUSTED_PROXIES: '' } }, 'the service listens on 0.0.0.0'],
  ['No private URLs', { env: { RELAYER_ALLOW_PRIVATE_URLS: 'true' } }, 'is set'],
  ['Generated API key', { env: { API_KEY: 'secret'.repeat(6) } }, 'repeats few characters'],
  ['Durability', { env: { DURABILITY: 'relaxed' } }, 'DURABILITY is relaxed'],
  [
    'Notifications',
    {
      document: changed(
        ({ relayers: [relayer] }) => void Object.assign(relayer ?? {}, { notification_id: null }),
      ),
    },
    'relayer "payouts" tells no one',
  ],
  [
    'Low balances',
    { document: relayerWith({ warn_balance: null }) },
    'relayer "payouts" has no warn_balance',
  ],
  [
    'Signed webhooks',
    {
      document: changed(({ notifications: [hook] }) => void Object.assign(hook ?? {}, { signing_key: null })),
    },
    'notification "ops" has no signing_key',
  ],
])('%s fails with the reason, and the exit code says so', async (title, deployment, reason) => {
  const { code, err, states } = await check(deployment)
  expect({ code, err }).toEqual({ code: 1, err: [] })
  expect(states.get(title)).toMatchObject({ state: 'failed', what: expect.stringContaining(reason) })
})

test.each<[string, Deployment]>([
  ['Known receivers', { document: relayerWith({ whitelist_receivers: null }) }],
  ['Daily budgets', { document: relayerWith({ rules: null }) }],
  ['Console', { env: { CONSOLE: 'on' } }],
  ['Metrics port', { env: { METRICS_ENABLED: 'true' } }],
])('%s is left to a person where the file does not decide it', async (title, deployment) => {
  const { code, states } = await check(deployment)
  expect({ code, state: states.get(title)?.state }).toEqual({ code: 0, state: 'by hand' })
})

test('a configuration that cannot be used has no checklist', async () => {
  const { code, out } = await check({ document: { ...READY, extra: 1 } })
  expect({ code, out }).toEqual({ code: 2, out: [] })
})
