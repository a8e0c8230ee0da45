import { Counter, Histogram, type Registry } from 'prom-client'
import type { DeliveryObserver } from '../notifications/delivery/observer.ts'

/** Tries of this process to deliver events to webhooks. */
export function createDeliveryMetrics(registry: Registry): DeliveryObserver {
  const registers = [registry]
  const tries = new Counter({
    name: 'webhook_deliveries_total',
    help: 'Tries to deliver an event: delivered, retried (failed, and made again later) or dead (given up).',
    labelNames: ['outcome'],
    registers,
  })
  const latency = new Histogram({
    name: 'webhook_delivery_seconds',
    help: 'Time that receivers took to answer, or not to.',
    labelNames: ['outcome'],
    registers,
  })
  return {
    tried: ({ outcome, seconds }) => {
      tries.inc({ outcome })
      latency.observe({ outcome }, seconds)
    },
  }
}
