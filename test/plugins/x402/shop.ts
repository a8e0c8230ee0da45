import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { HTTPFacilitatorClient } from '@x402/core/server'
import type { Network, SchemeNetworkServer } from '@x402/core/types'
import { paymentMiddleware, setSettlementOverrides, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import { API_KEY } from '../../support/service.ts'

/** A shop that sells a report for a payment, with the resource server of npm. */
export interface Shop {
  /** The URL of the report. */
  readonly url: string
  /** How often the report was delivered. */
  sales(): number
  stop(): Promise<void>
}

/** What it sells for, and where. */
export interface ShopOptions {
  /** The URL of the facilitator, e.g. `http://127.0.0.1:8080/x402`. */
  readonly facilitator: string
  /** Default: that of the environment; null for none. */
  readonly apiKey?: string | null
  readonly network: Network
  readonly asset: string
  readonly payTo: string
  readonly amount?: string
  readonly extra?: Record<string, unknown>
  readonly scheme: SchemeNetworkServer
  /** The amount that it charges in the end, with a scheme that leaves it open. */
  readonly charge?: string
  /** Its further declarations, by the name of the extension. */
  readonly extensions?: Record<string, unknown>
}

/** Starts it. */
export async function startShop(options: ShopOptions): Promise<Shop> {
  const {
    facilitator,
    apiKey = API_KEY,
    network,
    asset,
    payTo,
    amount = '10000',
    extra = {},
    scheme,
    charge,
    extensions,
  } = options
  const headers: Record<string, string> = apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }
  const client = new HTTPFacilitatorClient({
    url: facilitator,
    createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
  })
  const price = { asset, amount, extra }
  const app = new Hono()
  app.use(
    paymentMiddleware(
      {
        'GET /report': {
          accepts: { scheme: scheme.scheme, network, payTo, price },
          description: 'A report',
          ...(extensions && { extensions }),
        },
      },
      new x402ResourceServer(client).register(network, scheme),
    ),
  )
  let sales = 0
  app.get('/report', (context) => {
    sales += 1
    if (charge !== undefined) setSettlementOverrides(context, { amount: charge })
    return context.json({ report: 'sunny' })
  })
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/report`,
    sales: () => sales,
    stop: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}
