create schema if not exists :SCHEMA;
