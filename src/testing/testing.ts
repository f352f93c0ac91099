/** `postrider/testing`: what tests of an application, and of a backend of one's own, are made with. */
export { ChaosError, type ChaosOptions, chaos } from "./chaos.js";
export type { ConformanceCase } from "./conformance/case.js";
export { Subject, type SubjectOptions } from "./conformance/subject.js";
export { conformanceSuite } from "./conformance/suite.js";
export { duplicateDelivery } from "./duplicate-delivery.js";
export { type EventuallyOptions, eventually } from "./eventually.js";
export { type FakeTime, fakeTime } from "./fake-time.js";
export type { IdleOptions } from "./idle.js";
export type { TestStorageOptions } from "./test-storage.js";
export { settled, type TestHandler, type TestMq, type TestMqOptions, waitForIdle, withTestMq } from "./with-test-mq.js";
