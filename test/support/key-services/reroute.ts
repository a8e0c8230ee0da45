/**
 * Preloaded into a service (`node --import`): connects it to servers of the tests in place of key services whose hosts are fixed, and to no
 * other host by TLS. TEST_ROUTES is a JSON object of host names and ports of this machine. The requests are those of the service; only TLS is
 * left out.
 */
import net from 'node:net'
import tls, { type ConnectionOptions } from 'node:tls'

const routes = JSON.parse(process.env.TEST_ROUTES ?? '{}') as Readonly<Record<string, number>>

Object.assign(tls, {
  connect: ({ host = '' }: ConnectionOptions) => {
    const port = routes[host]
    if (port === undefined) throw new Error(`The tests have no server for ${host}.`)
    return net.connect(port, '127.0.0.1')
  },
})
