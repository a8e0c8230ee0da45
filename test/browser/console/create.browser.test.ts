import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { APP_ROLE, NAMESPACE, startVault } from '../../../simulators/key-services/vault.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { API_KEY, DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import { launchChromium } from '../launch.ts'
import { type ConsolePage, openConsole, sees } from './console-page.ts'

let story: Scenario
let browser: Browser

beforeAll(async () => {
  ;[story, browser] = await Promise.all([
    startScenario({ env: { STORAGE_ENCRYPTION_KEY, RELAYER_ALLOW_PRIVATE_URLS: 'true' } }),
    launchChromium(),
  ])
})
afterAll(async () => {
  await browser?.close()
  await story?.stop()
})

/** The service stores keys only with it. */
const STORAGE_ENCRYPTION_KEY = Buffer.alloc(32, 'sealing').toString('base64')

/** Accounts of anvil's default mnemonic that no other relayer of these tests has, by the width of the screen. */
const SPARE = {
  1440: {
    key: '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
    address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  },
  390: {
    key: '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a',
    address: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  },
} as const

describe.each([1440, 390] as const)('a person with a screen of %i px', (width) => {
  let tab: ConsolePage

  beforeAll(async () => {
    tab = await openConsole(browser, story.service.url, { width })
    await tab.signIn(API_KEY)
  })
  beforeEach(async () => {
    await tab.page.keyboard.press('Escape')
    await tab.page.getByRole('switch', { name: 'Allow changes' }).uncheck()
    await tab.go('', 'Overview')
  })
  afterEach(() => expect(tab.problems).toEqual([]))
  afterAll(() => tab?.context.close())

  const dialog = () => tab.page.getByRole('dialog')
  /** A field by its whole label; that of one that may stay empty says so. */
  const field = (label: string) => dialog().getByLabel(new RegExp(`^${label}( \\(optional\\))?$`))
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const closed = () => expect.poll(() => dialog().count()).toBe(0)

  /** Opens a form. Its button is not there while changes are not allowed. */
  async function open(button: string): Promise<void> {
    expect(await tab.page.getByRole('button', { name: button }).count()).toBe(0)
    await tab.allowChanges()
    await tab.page.getByRole('button', { name: button }).click()
    await dialog().waitFor()
  }

  test('creates an API key with scopes, rules and an end, and signs in with the secret that is shown once', async () => {
    const id = `cashier-${width}`
    await tab.go('api-keys', 'API keys')
    await open('New API key')
    await field('Name').fill('Cashier')
    await field('ID').fill(id)
    await confirm('Create the key')
    await expect.poll(() => dialog().locator('.hint.bad').count()).toBe(1)
    await field('Role').selectOption('approver')
    await field('Role').selectOption('custom')
    await dialog().getByRole('checkbox', { name: 'transactions:approve' }).uncheck()
    for (const scope of ['networks:read', 'events:read'])
      await dialog().getByRole('checkbox', { name: scope }).uncheck()
    for (const scope of ['relayers:read', 'transactions:read', 'transactions:write'])
      await dialog().getByRole('checkbox', { name: scope }).check()
    await field('Relayers').fill('main')
    await field('Expires').selectOption('30')
    await field('Allowed receivers').fill(RECEIVER)
    await dialog().getByRole('button', { name: 'Add a limit' }).click()
    await field('Per').selectOption('day')
    await field('On').selectOption('evm:anvil')
    await field('Value, in ETH').fill('1.5')
    await field('Require approval').selectOption('every')
    await confirm('Create the key')
    const shown = tab.page.getByRole('dialog', { name: 'API key Cashier created' })
    const secret = await shown.locator('code').innerText()
    await tab.screenshot('20-api-key')
    await shown.getByRole('button', { name: 'Close' }).click()
    await closed()
    await expect.poll(() => tab.page.content()).not.toContain(secret)
    await tab.go(`api-keys/${id}`, 'Cashier')
    await sees(tab.page, /1\.5 ETH in a day on evm:anvil/)
    await sees(tab.page, /for every transaction/)
    const { body } = await story.service.api<Record<string, unknown>>('GET', `/api-keys/${id}`)
    expect(body.data).toMatchObject({
      scopes: ['relayers:read', 'transactions:read', 'transactions:write'],
      relayers: ['main'],
      expires_at: expect.any(String),
      rules: {
        receivers: [RECEIVER.toLowerCase()],
        limits: [{ per: 'day', network: 'evm:anvil', value: 1_500_000_000_000_000_000n }],
        require_approval: {},
      },
    })
    const other = await openConsole(browser, story.service.url, { width })
    await other.signIn(secret)
    await other.go('key', `API key ${id}`)
    await other.context.close()
  })

  test('creates a signer, and a relayer that signs with it', async () => {
    const { key, address } = SPARE[width]
    const id = `spare-${width}`
    await tab.go('signers', 'Signers')
    await open('New signer')
    await field('Key type').selectOption('plain')
    await field('ID').fill(id)
    await field('Private key').fill('0x1234')
    await confirm('Create the signer')
    await expect.poll(() => dialog().innerText()).toContain('64 hex digits')
    await field('Private key').fill(key)
    await confirm('Create the signer')
    await closed()
    await sees(tab.page, id)
    await tab.page.getByRole('switch', { name: 'Allow changes' }).uncheck()
    await tab.go('', 'Overview')
    await open('New relayer')
    await field('Name').fill(`Spare ${width}`)
    await field('ID').fill(id)
    await field('Network').selectOption('evm:anvil')
    await field('Signer').selectOption(id)
    await field('Minimum balance, in ETH').fill('0.25')
    await field('Maximum gas price, in gwei').fill('80')
    await tab.screenshot('21-relayer')
    await confirm('Create the relayer')
    await tab.page.getByRole('heading', { level: 1, name: `Spare ${width}` }).waitFor()
    await sees(tab.page, address)
    await sees(tab.page, /Minimum balance\s+0\.25 ETH/)
    await sees(tab.page, /Maximum gas price\s+80 gwei/)
    const { body } = await story.service.api<object>('GET', `/relayers/${id}`)
    expect(body.data).toMatchObject({ address, signer_id: id, policies: { gas_price_cap: 80_000_000_000 } })
  })

  test('lets Vault create a key, and sees its accounts', async () => {
    const vault = await startVault({ secrets: {}, transit: {} })
    onTestFinished(() => vault.stop())
    const id = `vault-${width}`
    await tab.go('signers', 'Signers')
    await open('New signer')
    await field('Key type').selectOption('vault_transit')
    await field('The key').selectOption('new')
    expect(await field('Public key').count()).toBe(0)
    await field('ID').fill(id)
    await field('Address').fill(vault.url)
    await field('Namespace').fill(NAMESPACE)
    await field('Role id').fill(APP_ROLE.role_id)
    await field('Secret id').fill(APP_ROLE.secret_id)
    vault.setCreating(false)
    await confirm('Create the signer')
    await expect.poll(() => dialog().innerText()).toContain('does not let this service create keys')
    vault.setCreating(true)
    await confirm('Create the signer')
    await closed()
    await sees(tab.page, new RegExp(`relayer-${id}-[0-9a-f]{16}`))
    await sees(tab.page, /stellar\s+G[A-Z2-7]{55}/)
    expect(vault.keys()).toBe(1)
  })

  test('creates a notification with a signing key of its own', async () => {
    const id = `hook-${width}`
    await tab.go('notifications', 'Notifications')
    await open('New notification')
    await field('URL').fill('ftp://example.com')
    await field('ID').fill(id)
    await confirm('Create the notification')
    await expect.poll(() => dialog().locator('[aria-invalid="true"]').count()).toBe(1)
    await field('URL').fill('https://hooks.example.com/events')
    await dialog().getByRole('button', { name: 'Generate a signing key' }).click()
    expect(await field('Signing key').inputValue()).toMatch(/^[0-9a-f]{64}$/)
    await confirm('Create the notification')
    await closed()
    await tab.go(`notifications/${id}`, /hook/)
    await sees(tab.page, /Signing key\s+yes/)
  })

  test('creates an ABI, by which it reads a call', async () => {
    const contract = width === 390 ? RECEIVER : '0x5FbDB2315678afecb367f032d93F642f64180aa3'
    const abi = [{ type: 'function', name: 'payOut', inputs: [{ type: 'address', name: 'who' }] }]
    await tab.go('relayers/main', 'Main')
    await open('Register an ABI')
    await field('Contract address').fill(contract)
    await field('Name').fill(`Vault ${width}`)
    await field('ABI').fill('{"abi": 1}')
    await confirm('Register it')
    await expect.poll(() => dialog().locator('.hint.bad').count()).toBe(1)
    await field('ABI').fill(JSON.stringify({ contractName: 'Vault', abi }))
    await confirm('Register it')
    await closed()
    await sees(tab.page, new RegExp(`Vault ${width}`))
    const call = { function: 'payOut', args: { who: DEV_ADDRESSES[1] } }
    const { id } = await story.send({ to: contract, value: 0, gas_limit: 60_000, call, speed: 'fast' })
    await tab.go(`transactions/main/${id}`, /^Transaction/)
    await sees(tab.page, `payOut(who: ${DEV_ADDRESSES[1]})`)
    await story.settle()
  })

  test('creates nothing with an id that is taken, and reads that at the end of the form', async () => {
    await tab.go('signers', 'Signers')
    await open('New signer')
    await field('Key type').selectOption('plain')
    await field('ID').fill('dev-0')
    await field('Private key').fill(SPARE[width].key)
    await confirm('Create the signer')
    await dialog().getByRole('alert').waitFor()
    expect(await dialog().getByRole('alert').innerText()).toContain('dev-0')
    await tab.page.keyboard.press('Escape')
  })
})
